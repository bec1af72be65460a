import type { Database } from 'bun:sqlite'
import { ROW_ID_MIN } from '../../books/cursors.ts'
import { keyOf, selectCovered } from '../../books/rows/hashed-table.ts'
import { CommitsCheck, ROWS_NEEDED, type CommitRow } from '../../books/verify/rules/commit-chain-rules.ts'
import type { CoveredRows } from '../../books/verify/rules/covered-rows.ts'
import type { Finding } from '../../books/verify/findings.ts'
import { bunHashes } from '../commits/hashes.ts'

const COMMITS_A_TURN = 32
const ROWS_AT_ONCE = 512

/** Reads the commits in their order, and the rows that they cover. */
export function* checkCommits(database: Database): Generator<readonly Finding[]> {
  const check = new CommitsCheck(bunHashes)
  const select = database.prepare<CommitRow, [bigint, number]>(SELECT)
  const readers = check.tables.map(rows => readerOf(database, rows))
  let lastId = ROW_ID_MIN
  for (;;) {
    const commits = select.all(lastId, COMMITS_A_TURN)
    lastId = commits.at(-1)?.id ?? lastId
    check.add(commits)
    if (commits.length === 0) break
    while (check.hasCommit()) {
      for (const read of readers) read()
      yield check.continueCommit()
    }
  }
  // In the same turn as the look for another commit, so these rows are of none.
  for (const read of readers) read()
  yield check.strayRows()
}

/** Reads rows of a table until there are enough for the next part of the check. */
function readerOf(database: Database, rows: CoveredRows): () => void {
  const key = keyOf(rows.table)
  const select = database.prepare<unknown, [bigint, number]>(
    `${selectCovered(rows.table)} WHERE ${key} >= ? ORDER BY ${key} LIMIT ?`,
  )
  return () => {
    if (rows.count < ROWS_NEEDED) rows.add(select.values(rows.unreadFrom, ROWS_AT_ONCE))
  }
}

const SELECT = `SELECT commits.id, node_id, number, checksums, hash, name
  FROM commits LEFT JOIN nodes ON nodes.id = node_id WHERE commits.id > ? ORDER BY commits.id LIMIT ?`
