import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CATALOG, tollgate } from '../../../../test/support/cli-commands.ts'
import { aDataFolder } from '../../../../test/support/data-folder.ts'

const home = aDataFolder()

describe('on a stopped data folder', () => {
  test('a backup is written and restored, and the old books are kept', async () => {
    const settings = { TOLLGATE_DATA_DIR: join(home, 'backed-up') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '25'], settings)
    const file = join(home, 'books.db')
    const catalog = join(home, 'backed-up.yaml')
    writeFileSync(catalog, CATALOG)
    await tollgate(['catalog', 'import', catalog], settings)

    const backup = await tollgate(['backup', file], settings)
    await tollgate(['accounts', 'debit', 'ada', '5'], settings)
    const again = await tollgate(['backup', file, '--json'], settings)
    const refused = await tollgate(['restore', file, '--json'], settings)
    const restored = await tollgate(['restore', file, '--replace', 'a trial', '--json'], settings)
    const balance = await tollgate(['balance', 'ada'], settings)

    expect(backup.code).toBe(0)
    expect(backup.out).toContain(`Backup: ${file} (`)
    expect(backup.err).toContain('The backup does not have secret.key.')
    expect(again.code).toBe(1)
    expect(JSON.parse(again.out)).toMatchObject({ error: { code: 'already_exists' } })
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('--replace REASON')])
    expect(JSON.parse(restored.out)).toMatchObject({
      file,
      data_dir: settings.TOLLGATE_DATA_DIR,
      finished_interrupted: false,
      has_secret_key: true,
      replaced: expect.stringContaining(join(settings.TOLLGATE_DATA_DIR, 'replaced-')),
    })
    expect(balance.out).toContain('25')
  })

  test('a command that only reads creates no secret.key, so that a later restore still says that it is missing', async () => {
    const from = { TOLLGATE_DATA_DIR: join(home, 'with-key') }
    const to = { TOLLGATE_DATA_DIR: join(home, 'without-key') }
    const file = join(home, 'with-key.db')
    const catalog = join(home, 'with-key.yaml')
    writeFileSync(catalog, CATALOG)
    await tollgate(['catalog', 'import', catalog], from)
    await tollgate(['backup', file], from)

    await tollgate(['restore', file], to)
    const reads = await Promise.all([tollgate(['models', 'list'], to), tollgate(['verify', '--help'], to)])
    const verified = await tollgate(['verify'], to)
    const again = await tollgate(['restore', file, '--replace', 'a trial'], to)
    const hasKey = existsSync(join(to.TOLLGATE_DATA_DIR, 'secret.key'))
    const imported = await tollgate(['catalog', 'import', catalog], to)

    expect([...reads, verified, again].map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(hasKey).toBe(false)
    expect(again.err).toContain('Put your secret.key into')
    expect(imported.code).toBe(0)
    expect(existsSync(join(to.TOLLGATE_DATA_DIR, 'secret.key'))).toBe(true)
    expect((await tollgate(['models', 'list'], to)).code).toBe(0)
  })

  test('reconcile runs once and prints what it did', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'reconciled') }
    await tollgate(['accounts', 'create', 'ada'], folder)

    const text = await tollgate(['reconcile'], folder)
    const json = await tollgate(['reconcile', '--json'], folder)

    expect(text.code).toBe(0)
    expect(text.out).toContain('Late answers charged and given back: 0 (0 USD).')
    expect(text.out).toContain('Running jobs polled: 0, of which 0 had ended.')
    const nothing = { has_run: true, compensated: 0, compensated_usd: '0', closed: 0, expired: 0, failed: 0 }
    expect(JSON.parse(json.out)).toEqual({
      ...nothing,
      jobs: expect.objectContaining({ polled: 0, failed: 0 }),
    })
  })

  test('a command that needs the sums of an earlier version adds them up itself', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'earlier') }
    await tollgate(['accounts', 'create', 'ada'], folder)
    const database = new Database(join(home, 'earlier', 'tollgate.db'))
    database.run('UPDATE usage_rebuild SET charges_to = 5, costs_to = 5')
    database.close()

    const set = await tollgate(['accounts', 'set', 'ada', '--budget', 'month=20'], folder)

    expect(set).toMatchObject({ code: 0, out: expect.stringContaining('20 USD a month (0 spent, 20 left)') })
  })

  test('verify exits with 1 and names the first wrong entry of a tampered ledger', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'tampered') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '5'], folder)
    tamper(join(home, 'tampered', 'tollgate.db'))

    const text = await tollgate(['verify'], folder)
    const json = await tollgate(['verify', '--json'], folder)

    expect(text.code).toBe(1)
    expect(text.out).toStartWith('The books do not balance. The first wrong entry is ')
    expect(json.code).toBe(1)
    expect(JSON.parse(json.out)).toMatchObject({ ok: false })
  })

  test('verify reports that the books do not match their anchor, and not that they do not balance', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'lost-anchor') }
    await tollgate(['accounts', 'create', 'ada', '--grant', '5'], folder)
    writeFileSync(join(home, 'lost-anchor', 'anchor.json'), '{"node":"main","number":9999,"hash":"00"}\n')

    const { code, out, err } = await tollgate(['verify'], folder)

    expect(code).toBe(1)
    expect(out).toStartWith('The books do not match their anchor.\n')
    expect(err).toContain('See "If the database lost commits" in docs/books.md.')
  })

  test('doctor exits with 1 if no model is on', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'doctor') }
    await tollgate(['accounts', 'create', 'ada'], folder)

    const { code, out } = await tollgate(['doctor'], folder)

    expect(code).toBe(1)
    expect(out).toContain('No server is running on this data folder.')
    expect(out).toMatch(/FAILED +catalog +No model is on/)
  })

  test('doctor counts all models, including unfinished ones', async () => {
    const folder = { TOLLGATE_DATA_DIR: join(home, 'counted') }
    const file = join(home, 'counted.yaml')
    const draft = '  - { id: soon, kind: chat, enabled: false, upstreams: [{ provider: main, model: y }] }\n'
    writeFileSync(file, CATALOG + draft)
    await tollgate(['catalog', 'import', file], folder)

    const { out } = await tollgate(['doctor'], folder)

    expect(out).toMatch(/ok +catalog +1 of 2 models are on/)
  })

  test('the file of a killed server is ignored', async () => {
    const dataDir = join(home, 'stale')
    await tollgate(['accounts', 'create', 'ada'], { TOLLGATE_DATA_DIR: dataDir })
    const gone = Bun.spawn(['true'])
    await gone.exited
    writeFileSync(join(dataDir, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:9', pid: gone.pid }))

    const { code, out } = await tollgate(['balance', 'ada'], { TOLLGATE_DATA_DIR: dataDir })

    expect({ code, out }).toEqual({ code: 0, out: 'available  0 USD\nheld       0 USD\n' })
  })
})

/** Changes the amount of the first entry in the database. */
function tamper(path: string): void {
  const database = new Database(path)
  const triggers = database.query<{ name: string }, []>(
    "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'operations'",
  )
  for (const { name } of triggers.all()) database.run(`DROP TRIGGER ${name}`)
  database.run('UPDATE operations SET amount_1 = amount_1 + 10000000 WHERE id = 1')
  database.close()
}
