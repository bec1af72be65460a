import { Database } from 'bun:sqlite'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { readConfig } from '../../config/config.ts'
import { restoreBackup, type RestoreRequest } from './restore-backup.ts'

let gateway: TestGateway
/** A backup with its folder, which no test changes. */
let source: string

beforeAll(async () => {
  gateway = await startTestGateway()
  await gateway.account()
  source = join(aDataFolder(), 'books.db')
  await gateway.admin('POST', 'backups', { file: source })
})
afterAll(() => gateway.stop())

/** A copy of the backup, for a test that damages it. */
function aBackup(): string {
  const file = join(aDataFolder(), 'books.db')
  copyFileSync(source, file)
  cpSync(`${source}.blobs`, `${file}.blobs`, { recursive: true })
  return file
}

function edit(file: string, ...statements: readonly string[]): void {
  const database = new Database(file)
  for (const sql of statements) database.run(sql)
  database.close()
}

function restoreInto(dataDir: string, request: Partial<RestoreRequest> & { readonly file: string }) {
  const config = readConfig({ TOLLGATE_DATA_DIR: dataDir })
  return restoreBackup(config, { replace: undefined, isWithoutBlobs: false, ...request })
}

describe('a restore changes nothing', () => {
  test.each<[string, (file: string) => void, string]>([
    ['if the file is missing', file => rmSync(file), 'There is no file '],
    [
      'from a file that is not a database',
      file => writeFileSync(file, 'notes'),
      ' is not a backup of Tollgate.',
    ],
    ['from an empty file', file => writeFileSync(file, ''), ' is not a backup of Tollgate.'],
    [
      'from another database',
      file => {
        rmSync(file)
        edit(file, 'CREATE TABLE migrations (number INTEGER, name TEXT)')
      },
      ' is not a backup of Tollgate.',
    ],
    [
      'from a backup of a newer version',
      file => edit(file, "INSERT INTO migrations VALUES (9999, '9999_later.sql', 'x', 0)"),
      'were last used by a newer version of tollgate (they have migration 9999_later.sql)',
    ],
    [
      'from books that do not balance',
      file => edit(file, 'UPDATE balances SET available = available + 1'),
      'do not balance. Nothing was changed. Use another backup.\n  Account "demo"',
    ],
    [
      'from a copied database whose write-ahead log is beside it',
      file => writeFileSync(`${file}-wal`, 'x'),
      'is a part of a copied data folder, not a backup',
    ],
    [
      'from a backup without its files of jobs',
      file => rmSync(`${file}.blobs`, { recursive: true }),
      '.blobs is missing: it has the files of image and video jobs.',
    ],
  ])('a restore changes nothing %s', async (_, damage, problem) => {
    const dataDir = aDataFolder()
    await restoreInto(dataDir, { file: source })
    const before = readFileSync(join(dataDir, 'tollgate.db'))
    const names = readdirSync(dataDir).sort()
    const file = aBackup()
    damage(file)

    const error = await rejection(restoreInto(dataDir, { file, replace: 'a test' }))

    expect(error).toMatchObject({ message: expect.stringContaining(problem) })
    expect(readdirSync(dataDir).sort()).toEqual(names)
    expect(readFileSync(join(dataDir, 'tollgate.db')).equals(before)).toBe(true)
  })

  test('a restore changes nothing if the file is missing, not even a folder', async () => {
    const dataDir = join(aDataFolder(), 'mistyped')
    const file = join(aDataFolder(), 'none.db')

    const error = await rejection(restoreInto(dataDir, { file }))

    expect(error).toMatchObject({ message: `There is no file ${file}.` })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('a restore changes nothing if a file has the name of the folder that it needs', async () => {
    const dataDir = aDataFolder()
    const taken = join(dataDir, 'restore.ready')
    writeFileSync(taken, 'mine')

    const error = await rejection(restoreInto(dataDir, { file: source }))

    expect(error).toMatchObject({
      message: `${taken} is not from a restore. Move it to another folder, and repeat the command.`,
    })
    expect(readdirSync(dataDir).sort()).toEqual(['lock.db', 'restore.ready'])
  })

  test('a restore changes nothing without a reason, if there are books', async () => {
    const dataDir = aDataFolder()
    await restoreInto(dataDir, { file: source })

    const error = await rejection(restoreInto(dataDir, { file: source }))

    expect(error).toMatchObject({
      message: `There are books in ${dataDir}. To replace them, repeat the command with --replace REASON. They are kept in another folder.`,
    })
  })
})

describe('a restore', () => {
  test('a restore does not change the backup', async () => {
    const file = aBackup()
    const before = readFileSync(file)

    await restoreInto(aDataFolder(), { file })

    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(join(file, '..')).sort()).toEqual(['books.db', 'books.db.blobs'])
  })

  test('a restore migrates a backup of an earlier version, and leaves the file as it is', async () => {
    const file = join(aDataFolder(), 'books.db')
    edit(
      file,
      readFileSync(resolve(import.meta.dirname, '../../../test/fixtures/schema-5/books.sql'), 'utf8'),
    )
    const before = readFileSync(file)
    const dataDir = aDataFolder()

    const { entries } = await restoreInto(dataDir, { file, isWithoutBlobs: true })

    const restored = new Database(join(dataDir, 'tollgate.db'), { readonly: true })
    const { migrations } = restored.query('SELECT max(number) AS migrations FROM migrations').get() as {
      migrations: number
    }
    restored.close()
    expect(entries).toBeGreaterThan(20)
    expect(migrations).toBeGreaterThan(5)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('a restore creates a missing data folder, and makes no secret.key', async () => {
    const dataDir = join(aDataFolder(), 'new')

    const { hasSecretKey, replaced } = await restoreInto(dataDir, { file: source })

    expect([hasSecretKey, replaced]).toEqual([false, undefined])
    expect(readdirSync(dataDir).sort()).toEqual(['anchor.json', 'blobs', 'lock.db', 'tollgate.db'])
  })

  test('a restore writes the anchor to the file of the setting', async () => {
    const dataDir = aDataFolder()
    const anchorFile = join(aDataFolder(), 'anchor.json')
    const config = readConfig({ TOLLGATE_DATA_DIR: dataDir, TOLLGATE_ANCHOR_FILE: anchorFile })

    const { commits, anchor } = await restoreBackup(config, {
      file: source,
      replace: undefined,
      isWithoutBlobs: false,
    })

    expect(JSON.parse(readFileSync(anchorFile, 'utf8'))).toMatchObject({
      chains: [{ node: 'main', number: commits }],
    })
    expect(anchor).toBe(anchorFile)
    expect(existsSync(join(dataDir, 'anchor.json'))).toBe(false)
  })

  test('a restore can leave out the files of jobs', async () => {
    const file = aBackup()
    renameSync(`${file}.blobs`, `${file}.elsewhere`)

    const { entries } = await restoreInto(aDataFolder(), { file, isWithoutBlobs: true })

    expect(entries).toBeGreaterThan(0)
  })
})
