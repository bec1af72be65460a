import type { SqlValue } from '../../books/rows/canonical.ts'
import { keyOf, selectCovered } from '../../books/rows/hashed-table.ts'
import { chargesTable, operationsTable } from '../../books/rows/money-tables.ts'
import {
  CommitsCheck,
  ROWS_NEEDED,
  type ChainEnd,
  type CommitRow,
} from '../../books/verify/rules/commit-chain-rules.ts'
import type { CoveredRows } from '../../books/verify/rules/covered-rows.ts'
import type { Finding } from '../../books/verify/findings.ts'
import { bunHashes } from '../lanes/lane.ts'
import { isOfLane } from '../lanes/step-writes.ts'
import type { Snapshot } from './snapshot.ts'

/** Reads the commits, lane after lane, and the rows that they cover. */
export async function* checkCommits(snapshot: Snapshot): AsyncGenerator<readonly Finding[]> {
  const check = new CommitsCheck(bunHashes)
  const readers = await Promise.all(check.tables.map(rows => readerOf(snapshot, rows)))
  const read = async () => {
    for (const readNext of readers) await readNext()
  }
  for await (const commits of snapshot.rows<CommitRow>(COMMITS)) {
    check.add(commits)
    while (check.hasCommit()) {
      await read()
      yield check.continueCommit()
    }
  }
  await read()
  yield check.strayRows()
  for await (const ends of snapshot.rows<ChainEnd>(ENDS)) yield check.findingsOfEnds(ends)
}

/** Reads rows of a table until there are enough for the next part of the check. */
async function readerOf(snapshot: Snapshot, rows: CoveredRows): Promise<() => Promise<void>> {
  const cursor = await snapshot.open(selectInOrder(rows.table))
  return async () => {
    while (!cursor.isDone && rows.count < ROWS_NEEDED)
      rows.add((await cursor.nextValues()) as readonly SqlValue[][])
  }
}

/** The rows of a hashed table in the order of the commits that cover them. */
function selectInOrder(table: CoveredRows['table']): string {
  const key = keyOf(table)
  if (!isOfLane(table)) return `${selectCovered(table)} ORDER BY commit_id, ${key}`
  const select = isOfBatch(table)
    ? `${selectCovered(table)} WHERE NOT ${isUnsealed(table.name)}`
    : selectCovered(table)
  return `${select} ORDER BY ${key}`
}

/** A batch writes these rows before it knows their hash. */
function isOfBatch(table: CoveredRows['table']): boolean {
  return table === operationsTable || table === chargesTable
}

/** The rows of the last batch of a lane. The next batch stores their commit. */
function isUnsealed(table: string): string {
  return `EXISTS (SELECT FROM lanes WHERE ${table}.commit_id = sealed_id + 1
    AND ${table}.id > sealed_id + 1 AND ${table}.id <= last_id)`
}

const COMMITS = `SELECT commits.id, node_id, number, checksums, hash, name
  FROM commits LEFT JOIN nodes ON nodes.id = node_id ORDER BY commits.id`

/** The last commit of each lane, as the lane has it. */
const ENDS = `SELECT name, commit_number AS number, commit_hash AS hash
  FROM lanes JOIN nodes ON nodes.id = node_id ORDER BY lanes.number`
