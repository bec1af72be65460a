import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { aDataFolder } from '../../../test/support/data-folder.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { migrate } from './migrate.ts'

const FOLDER = join(import.meta.dirname, 'migrations')

/** A store as the first so many migrations leave it. */
function aStoreOf(migrations: number): { readonly path: string; readonly database: Database } {
  const folder = aDataFolder()
  const some = join(folder, 'migrations')
  mkdirSync(some)
  for (const name of readdirSync(FOLDER).sort().slice(0, migrations))
    copyFileSync(join(FOLDER, name), join(some, name))
  const path = join(folder, 'tollgate.db')
  const database = new Database(path, { create: true, readwrite: true, safeIntegers: true, strict: true })
  migrate(database, some)
  return { path, database }
}

test('books whose operations and entries were rows of their own are in order when each operation is one row', async () => {
  const { path, database } = aStoreOf(4)
  database.run(BOOKS_BEFORE_0005)
  database.close()

  const store = aSqliteStore(path)

  const { ledger } = store
  expect(await ledger.verify()).toEqual({ problems: [], entries: 13 })
  const statement = await ledger.statement(1, { limit: 10 })
  expect(statement.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual([
    'release 10',
    'hold -10',
    'capture 4',
    'hold -10',
    'charge -30',
    'top_up 100',
  ])
  expect((await ledger.usage(1, { limit: 10 })).map(({ cost }) => String(cost))).toEqual(['6', '30'])
  expect(store.database.query('SELECT * FROM operations WHERE id = 4').get()).toMatchObject({
    book_1: 'held.media',
    amount_1: -10n,
    balance_after_1: 0n,
    book_2: 'revenue.media',
    amount_2: 6n,
    balance_after_2: 6n,
    book_3: 'available',
    amount_3: 4n,
    balance_after_3: 64n,
  })
  expect(store.database.query('PRAGMA foreign_key_check').all()).toEqual([])
  await store.close()
})

/** A credit of 100, a text charge of 30, a media hold of 10 of which 6 were charged, and one of 10 that was released. */
const BOOKS_BEFORE_0005 = `
  INSERT INTO accounts VALUES (1, 'acct_1', 'ada', 0, 1);
  INSERT INTO api_keys VALUES (1, 'key_1', 1, 'default', zeroblob(32), 'tg_', 1, NULL);
  INSERT INTO operations VALUES
    (1, NULL, 1, 'top_up', 11, -11, 100, 1), (2, 1, 1, 'charge', 12, -12, -30, 2), (3, 2, 1, 'hold', 13, -13, -10, 3),
    (4, 3, 1, 'capture', 13, -13, 4, 4), (5, 4, 1, 'hold', 14, -14, -10, 5), (6, 5, 1, 'release', 14, -14, 10, 6);
  INSERT INTO entries (operation_id, book, amount, balance_after) VALUES
    (1, 'cash', -100, -100), (1, 'available', 100, 100),
    (2, 'available', -30, 70), (2, 'revenue.text', 30, 30),
    (3, 'available', -10, 60), (3, 'held.media', 10, 10),
    (4, 'held.media', -6, 4), (4, 'revenue.media', 6, 6), (4, 'held.media', -4, 0), (4, 'available', 4, 64),
    (5, 'available', -10, 54), (5, 'held.media', 10, 10),
    (6, 'held.media', -10, 0), (6, 'available', 10, 64);
  INSERT INTO credits VALUES (11, -11, 1, 1, 100, 'cash', NULL, NULL, 100);
  INSERT INTO holds VALUES
    (13, -13, 1, 'media', 10, 'captured', 3, 4, 3, 4), (14, -14, 1, 'media', 10, 'released', 5, 6, 5, 6);
  INSERT INTO charges VALUES
    (12, -12, 1, NULL, 2, 1, 'chat', 'gpt-x', 'main', 3, 0, 0, 0, 4, 0, 0, 'reported', 0, NULL, 30, 0, 2),
    (13, -13, 1, 12, 4, 1, 'images', 'draw', 'main', 0, 0, 0, 0, 0, 0, 0, 'reported', 0, NULL, 6, 0, 4);
  INSERT INTO balances VALUES (1, 64, 0, 0, -100, 0, 30, 6, 0, 6, 13);
`
