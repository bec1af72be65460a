import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { migrate } from './migrate.ts'

const FIRST = 'CREATE TABLE first (id INTEGER PRIMARY KEY) STRICT;'
const SECOND = 'CREATE TABLE second (id INTEGER PRIMARY KEY) STRICT; CREATE INDEX seconds ON second (id);'

function aFolderOf(migrations: Record<string, string>): string {
  const folder = aDataFolder()
  for (const [name, sql] of Object.entries(migrations)) writeFileSync(join(folder, name), sql)
  return folder
}

function tables(database: Database): readonly string[] {
  const rows = database.query<{ name: string }, []>('SELECT name FROM sqlite_master ORDER BY name').all()
  return rows.map(row => row.name)
}

describe('migrations', () => {
  test('migrations are applied in order, once', () => {
    const database = new Database(':memory:')
    migrate(database, aFolderOf({ '0001_first.sql': FIRST }))

    migrate(database, aFolderOf({ '0001_first.sql': FIRST, '0002_second.sql': SECOND }))

    expect(tables(database)).toEqual(['first', 'migrations', 'second', 'seconds'])
  })

  test('a migration that fails leaves no trace', () => {
    const database = new Database(':memory:')
    const folder = aFolderOf({
      '0001_first.sql': FIRST,
      '0002_second.sql': `${SECOND} SELECT no_such_thing;`,
    })

    expect(() => migrate(database, folder)).toThrow('no_such_thing')

    expect(tables(database)).toEqual(['first', 'migrations'])
  })

  test('a migration that changed after it was applied stops the start', () => {
    const database = new Database(':memory:')
    migrate(database, aFolderOf({ '0001_first.sql': FIRST }))

    const again = () => migrate(database, aFolderOf({ '0001_first.sql': `${FIRST} ` }))

    expect(again).toThrow('Migration 0001_first.sql has changed since it was applied to the data folder')
  })

  test('a migration of a newer version stops the start', () => {
    const database = new Database(':memory:')
    migrate(database, aFolderOf({ '0001_first.sql': FIRST, '0002_second.sql': SECOND }))

    const older = () => migrate(database, aFolderOf({ '0001_first.sql': FIRST }))

    expect(older).toThrow('last used by a newer version of tollgate (they have migration 0002_second.sql)')
  })

  test('the code that completes a migration runs once, in the transaction of the migration', () => {
    const database = new Database(':memory:')
    const folder = aFolderOf({ '0001_first.sql': FIRST, '0002_second.sql': SECOND })
    let runs = 0
    const completions = {
      '0001_first.sql': () => void (runs += 1),
      '0002_second.sql': () => {
        throw new Error('cannot complete')
      },
    }

    const applying = () => migrate(database, folder, completions)

    expect(applying).toThrow('cannot complete')
    expect(applying).toThrow('cannot complete')
    expect(runs).toBe(1)
    expect(tables(database)).toEqual(['first', 'migrations'])
  })

  test('a gap in the numbers stops the start', () => {
    const folder = aFolderOf({ '0001_first.sql': FIRST, '0003_third.sql': SECOND })

    expect(() => migrate(new Database(':memory:'), folder)).toThrow('0003_third.sql is not migration 2')
  })
})
