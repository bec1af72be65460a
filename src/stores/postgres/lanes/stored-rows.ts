import type { SQL } from 'bun'
import type { SqlValue } from '../../books/rows/canonical.ts'
import { CommitRows } from '../../books/rows/commit-rows.ts'
import { chargesTable, operationsTable } from '../../books/rows/money-tables.ts'
import { formOf, selectCovered } from '../../books/rows/hashed-table.ts'
import { bunHashes, chainName, LANE_TTL_MS, type LanePlace, type LaneRow } from './lane.ts'

/** The tables that batches write. */
const batchTables = [operationsTable, chargesTable]
/** Each lane is sealed once after its process ended, so there are seldom several. */
const LANES_MAX = 100

/** The rows of the last batch of a lane, as they are stored, to be covered by a commit. */
export async function storedRows(
  sql: SQL,
  { sealedId, lastId }: Pick<LanePlace, 'sealedId' | 'lastId'>,
): Promise<CommitRows> {
  const rows = new CommitRows(bunHashes)
  for (const table of batchTables) {
    const stored = (await sql
      .unsafe(`${selectCovered(table)} WHERE id > $1 AND id <= $2 ORDER BY id`, [sealedId, lastId])
      .values()) as SqlValue[][]
    for (const values of stored) rows.add(table.tag, formOf(table, values))
  }
  return rows
}

/**
 * Seals the lanes whose processes ended without it, and raises their epochs: a process that was only slow cannot write
 * any more and takes another lane. Returns their number. Safe to run on every node at once.
 */
export async function sealSilentLanes(sql: SQL, nowMs: number | null): Promise<number> {
  const silent = await sql<{ number: bigint }[]>`
    SELECT number FROM lanes WHERE sealed_id < last_id AND seen_at_ms <= now_ms(${nowMs}) - ${LANE_TTL_MS}::bigint
      ORDER BY number LIMIT ${LANES_MAX}`
  let sealed = 0
  for (const { number } of silent)
    sealed += await sql.begin(transaction => sealLane(transaction, number, nowMs))
  return sealed
}

/** Returns 0 if another node seals the lane, or if its process wrote again. */
async function sealLane(sql: SQL, number: bigint, nowMs: number | null): Promise<number> {
  const [lane] = await sql<(LaneRow & { node_id: bigint })[]>`
    SELECT * FROM lanes WHERE number = ${number} AND sealed_id < last_id
      AND seen_at_ms <= now_ms(${nowMs}) - ${LANE_TTL_MS}::bigint FOR UPDATE SKIP LOCKED`
  if (lane === undefined) return 0
  const rows = await storedRows(sql, { sealedId: lane.sealed_id, lastId: lane.last_id })
  const chain =
    rows.count === 0
      ? { number: lane.commit_number, hash: lane.commit_hash }
      : await insertCommit(sql, lane, rows)
  await sql`UPDATE lanes SET epoch = epoch + 1, batch = 0, sealed_id = last_id, commit_number = ${chain.number},
    commit_hash = ${chain.hash} WHERE number = ${number}`
  return 1
}

async function insertCommit(sql: SQL, lane: LaneRow & { node_id: bigint }, rows: CommitRows) {
  const number = lane.commit_number + 1n
  const hash = rows.hash({
    previous: lane.commit_hash,
    node: chainName(lane.number),
    number: Number(number),
  })
  await sql`INSERT INTO commits (id, node_id, number, checksums, hash)
    VALUES (${lane.sealed_id + 1n}, ${lane.node_id}, ${number}, ${rows.checksums()}, ${hash})`
  return { number, hash }
}
