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
import type { CheckedBooks } from './checked-books.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Reads the commits, lane after lane, and the rows that they cover. With `checked`, only commits and rows that are new
 * since then: the first one of each lane must follow the last one that was checked.
 */
export async function* checkCommits(
  snapshot: Snapshot,
  checked: CheckedBooks | undefined,
): AsyncGenerator<readonly Finding[]> {
  const check = new CommitsCheck(bunHashes)
  if (checked !== undefined) for await (const ends of snapshot.rows<ChainEnd>(CHECKED_ENDS)) check.goOn(ends)
  const readers = await Promise.all(check.tables.map(rows => readerOf(snapshot, rows, checked)))
  const read = async () => {
    for (const readNext of readers) await readNext()
  }
  const select = checked === undefined ? COMMITS : `${COMMITS} WHERE ${checked.isNewCommit('commits.id')}`
  for await (const commits of snapshot.rows<CommitRow>(`${select} ORDER BY commits.id`)) {
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
async function readerOf(
  snapshot: Snapshot,
  rows: CoveredRows,
  checked: CheckedBooks | undefined,
): Promise<() => Promise<void>> {
  const cursor = await snapshot.open(selectInOrder(rows.table, checked))
  return async () => {
    while (!cursor.isDone && rows.count < ROWS_NEEDED)
      rows.add((await cursor.nextValues()) as readonly SqlValue[][])
  }
}

/** The rows of a hashed table in the order of the commits that cover them. */
function selectInOrder(table: CoveredRows['table'], checked: CheckedBooks | undefined): string {
  const conditions = [
    ...(checked === undefined ? [] : [checked.isOfNewCommit(table)]),
    ...(isOfBatch(table) ? [`NOT ${isUnsealed(table.name)}`] : []),
  ]
  const select =
    conditions.length === 0
      ? selectCovered(table)
      : `${selectCovered(table)} WHERE ${conditions.join(' AND ')}`
  return `${select} ORDER BY ${isOfLane(table) ? '' : 'commit_id, '}${keyOf(table)}`
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
  FROM commits LEFT JOIN nodes ON nodes.id = node_id`

/** The last commit of each lane, as the lane has it. */
const ENDS = `SELECT name, commit_number AS number, commit_hash AS hash
  FROM lanes JOIN nodes ON nodes.id = node_id ORDER BY lanes.number`

/** The same when the books were checked last. */
const CHECKED_ENDS = `SELECT name, checked.commit_number AS number, checked.commit_hash AS hash
  FROM checked_lanes AS checked JOIN lanes ON lanes.number = checked.number JOIN nodes ON nodes.id = node_id
  ORDER BY lanes.number`
