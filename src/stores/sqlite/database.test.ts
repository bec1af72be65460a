import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { DataFolderInUseError, openDatabase } from './database.ts'

describe('database', () => {
  test('a data folder in use is refused with an error that names it', () => {
    const folder = aDataFolder()
    const database = openDatabase({ path: join(folder, 'tollgate.db') })

    const opening = () => openDatabase({ path: join(folder, 'tollgate.db') })

    expect(opening).toThrow(
      new DataFolderInUseError(
        `The data folder ${folder} is in use by another tollgate process. Stop that one, or give this one a folder of its own.`,
      ),
    )
    database.close()
  })

  test('a folder is free again after it is closed', () => {
    const path = join(aDataFolder(), 'tollgate.db')
    openDatabase({ path }).close()

    const reopened = openDatabase({ path })

    expect(reopened.filename).toBe(path)
    reopened.close()
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
    ['locking_mode', 'exclusive'],
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
