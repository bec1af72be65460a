import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'bun:test'
import { aDataFolder } from '../../test/support/data-folder.ts'
import { main } from './main.ts'

const dataDir = aDataFolder()

beforeAll(() => tollgate(['accounts', 'create', 'ada', '--grant', '1']))

/** The path of a backup that is not yet written. */
function newBackup(): string {
  return join(aDataFolder(), 'books.db')
}

/** Runs a command, and lets it take this many ticks of five seconds. */
async function tollgate(args: readonly string[], { ticks = 0 } = {}) {
  let [out, err, running] = ['', '', 0]
  const code = await main(args, {
    version: '0.0.0',
    environment: { TOLLGATE_DATA_DIR: dataDir },
    loadApp: () => import('../app.ts'),
    out: text => (out += text),
    err: text => (err += text),
    every(ms, tick) {
      expect(ms).toBe(5000)
      running += 1
      for (let count = 0; count < ticks; count += 1) tick()
      return () => (running -= 1)
    },
  })
  return { code, out, err, running }
}

test('long work says how long it takes: three times in the first minute, and then each minute', async () => {
  const verified = await tollgate(['verify'], { ticks: 37 })

  expect(verified).toMatchObject({ code: 0, running: 0 })
  expect(verified.err.split('\n').filter(line => line.startsWith('Checking'))).toEqual(
    [5, 15, 30, 60, 120, 180].map(seconds => `Checking the books: ${seconds} s so far …`),
  )
  expect(verified.out).toStartWith('The books balance.')
})

test('a backup, a run of the reconciler and an import say how long they take, too', async () => {
  const catalog = join(dataDir, 'catalog.yaml')
  writeFileSync(catalog, '{"providers": [], "models": []}')

  const texts = [
    (await tollgate(['backup', newBackup()], { ticks: 1 })).err,
    (await tollgate(['reconcile'], { ticks: 1 })).err,
    (await tollgate(['catalog', 'import', catalog], { ticks: 1 })).err,
  ]

  expect(texts.map(text => text.split('\n')[0])).toEqual([
    'Writing the backup: 5 s so far …',
    'Reconciling: 5 s so far …',
    'Importing the catalog: 5 s so far …',
  ])
})

test('a restore names its steps', async () => {
  const backup = newBackup()
  await tollgate(['backup', backup])

  const { code, err } = await tollgate(['restore', backup, '--replace', 'a trial'])

  expect(code).toBe(0)
  expect(err).toStartWith(
    'Copying the books …\nChecking the copy …\nCopying the files of jobs …\nMoving the books into their place …\n',
  )
})

test('with --json, and for short work, nothing reports the time', async () => {
  const json = await tollgate(['verify', '--json'], { ticks: 100 })
  const short = await tollgate(['accounts', 'list'], { ticks: 100 })

  expect(json.err).toBe('')
  expect(short.err).not.toContain('so far')
})
