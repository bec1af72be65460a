import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { openDatabase } from './database.ts'
import { DataFolderInUseError } from './folder-lock.ts'

describe('database', () => {
  test('a database that another program has locked is refused with an error that names its folder', () => {
    const folder = aDataFolder()
    const path = join(folder, 'tollgate.db')
    // Earlier versions lock the database itself.
    const earlier = new Database(path)
    for (const sql of ['PRAGMA locking_mode = EXCLUSIVE', 'PRAGMA journal_mode = WAL', 'CREATE TABLE t (x)'])
      earlier.run(sql)

    const opening = () => openDatabase({ path })

    expect(opening).toThrow(DataFolderInUseError)
    expect(opening).toThrow(`The data folder ${folder} is in use by another tollgate process.`)
    earlier.close()
  })

  test('another connection can read the database while it is written', () => {
    const path = join(aDataFolder(), 'tollgate.db')
    const database = openDatabase({ path })
    database.run('CREATE TABLE t (x INTEGER) STRICT')
    const reader = new Database(path, { readonly: true })

    const before = reader.query('SELECT count(*) AS rows FROM t').get()
    database.run('INSERT INTO t VALUES (1)')
    const after = reader.query('SELECT count(*) AS rows FROM t').get()

    expect([before, after]).toEqual([{ rows: 0 }, { rows: 1 }])
    reader.close()
    database.close()
  })

  test('a missing folder is created for the owner alone', () => {
    const folder = join(aDataFolder(), 'new', 'data')

    openDatabase({ path: join(folder, 'tollgate.db') }).close()

    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  test('its files are for the owner alone, also in a folder that others can read', () => {
    const folder = aDataFolder()
    chmodSync(folder, 0o755)

    const database = openDatabase({ path: join(folder, 'tollgate.db') })

    const modes = readdirSync(folder).map(name => statSync(join(folder, name)).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600]))
    database.close()
  })

  test('the error for a file that is not a database names it', () => {
    const path = join(aDataFolder(), 'tollgate.db')
    writeFileSync(path, 'Notes of a person, not pages of a database. '.repeat(20))

    const opening = () => openDatabase({ path })

    expect(opening).toThrow(`The database ${path} cannot be used: file is not a database.`)
  })

  test.each([
    ['journal_mode', 'wal'],
    ['synchronous', 2n],
    ['foreign_keys', 1n],
    ['locking_mode', 'normal'],
    ['journal_size_limit', 67_108_864n],
  ])('%s is %s', (pragma, value) => {
    const database = openDatabase({ path: join(aDataFolder(), 'tollgate.db') })

    const setting = database.query(`PRAGMA ${pragma}`).values()

    expect(setting).toEqual([[value]])
    database.close()
  })

  test.each(['operations', 'charges', 'credits', 'tariffs', 'commits', 'audit_log'])(
    'a row of %s is final',
    table => {
      const database = openDatabase({ path: join(aDataFolder(), 'tollgate.db') })
      const triggers = database
        .query<{ sql: string }, [string]>(
          "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
        )
        .all(table)
        .map(({ sql }) => sql)

      const forbidden = triggers.map(sql => /BEFORE (UPDATE|DELETE) ON/.exec(sql)?.[1])

      expect(new Set(forbidden)).toEqual(new Set(['UPDATE', 'DELETE']))
      database.close()
    },
  )
})
