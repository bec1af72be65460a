import type { Database } from 'bun:sqlite'
import { CanonicalBytes, type SqlValue } from './canonical.ts'
import { commitHasher, hashOf } from './commit-rows.ts'
import { columnsOf, hashedTables } from './hashed-tables.ts'
import { NO_HASH } from './node-chain.ts'

/** The node of the commit that covers the rows of earlier versions. */
const EARLIER_NODE = 'earlier versions'
/** Rows read at once. */
const CHUNK = 1000

/** Writes the commit 0, which covers all rows that were written before there were commits. Part of migration 0010. */
export function sealEarlierRows(database: Database): void {
  const hasher = commitHasher({ previous: NO_HASH, node: EARLIER_NODE, number: 1 })
  const bytes = new CanonicalBytes()
  let count = 0
  for (const table of hashedTables) {
    const select = `SELECT ${columnsOf(table).join(', ')} FROM ${table.name}`
    for (const row of rowsOf(database, select)) {
      bytes.clear()
      bytes.addAll(row)
      hasher.update(bytes.bytes)
      count += 1
    }
  }
  if (count === 0) return
  const { lastInsertRowid } = database.run('INSERT INTO nodes (name) VALUES (?)', [EARLIER_NODE])
  database.run('INSERT INTO commits (id, node_id, number, checksums, hash) VALUES (0, ?, 1, NULL, ?)', [
    lastInsertRowid,
    hashOf(hasher),
  ])
}

function* rowsOf(database: Database, select: string): Generator<readonly SqlValue[]> {
  const statement = database.prepare<unknown, [bigint, number]>(`${select} WHERE id > ? ORDER BY id LIMIT ?`)
  let last = 0n
  for (;;) {
    const rows = statement.values(last, CHUNK) as SqlValue[][]
    yield* rows
    const id = rows.at(-1)?.[0]
    if (typeof id !== 'bigint') break
    last = id
  }
  statement.finalize()
}
