import type { Database } from 'bun:sqlite'
import { CanonicalBytes, type SqlValue } from '../../books/rows/canonical.ts'
import { commitHasher, hashOf, NO_HASH } from '../../books/rows/commit-rows.ts'
import { ROW_ID_MIN } from '../../books/cursors.ts'
import { columnsOf, keyOf, selectCovered, type HashedTableDefinition } from '../../books/rows/hashed-table.ts'
import { creationTables, ledgerTables } from '../../books/rows/hashed-tables.ts'
import { bunHashes } from '../commits/hashes.ts'

/** Rows read at once. */
const CHUNK = 1000

/**
 * Writes the commit 0, which covers the rows of the ledger that were written before there were commits. Part of
 * migration 0010.
 */
export function sealEarlierRows(database: Database): void {
  seal(database, { tables: ledgerTables, commitId: 0, node: 'earlier versions' })
}

/**
 * Writes the commit -1, which covers the other rows that were written before commits covered them. Part of migration
 * 0011.
 */
export function sealEarlierCreations(database: Database): void {
  seal(database, { tables: creationTables, commitId: -1, node: 'earlier versions, migration 0011' })
}

function seal(
  database: Database,
  commit: {
    readonly tables: readonly HashedTableDefinition[]
    readonly commitId: number
    readonly node: string
  },
): void {
  const hasher = commitHasher({ previous: NO_HASH, node: commit.node, number: 1 }, bunHashes)
  const bytes = new CanonicalBytes()
  let count = 0
  for (const table of commit.tables) {
    for (const row of rowsOf(database, table)) {
      bytes.clear()
      bytes.addAll(row)
      hasher.update(bytes.bytes)
      count += 1
    }
  }
  if (count === 0) return
  const { lastInsertRowid } = database.run('INSERT INTO nodes (name) VALUES (?)', [commit.node])
  database.run('INSERT INTO commits (id, node_id, number, checksums, hash) VALUES (?, ?, 1, NULL, ?)', [
    commit.commitId,
    lastInsertRowid,
    hashOf(hasher),
  ])
}

function* rowsOf(database: Database, table: HashedTableDefinition): Generator<readonly SqlValue[]> {
  const key = keyOf(table)
  // The columns with first values were added later.
  const earlier = { ...table, firstIn: {} }
  const statement = database.prepare<unknown, [bigint, number]>(
    `${selectCovered(earlier, columnsOf(table))} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`,
  )
  let last = ROW_ID_MIN
  for (;;) {
    const rows = statement.values(last, CHUNK) as SqlValue[][]
    yield* rows
    const id = rows.at(-1)?.[0]
    if (typeof id !== 'bigint') break
    last = id
  }
  statement.finalize()
}
