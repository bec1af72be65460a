import type { SQL } from 'bun'
import type { RunningNode } from '../../gateway/ports/nodes.ts'
import { addPartitions, PARTITION_MONTHS, partitionMonthsAhead } from './database/partitions.ts'
import type { ReadQuery } from './database/reads.ts'
import { sealSilentLanes } from './lanes/stored-rows.ts'

/** How long an expired hold stays: until then, its request can still be charged. */
const EXPIRED_KEPT_MS = 86_400_000
/** One statement must not hold many locks. What is left is deleted by the next run. */
const DELETED_MAX = 10_000

/**
 * What some node must do now and then: seals the lanes of dead nodes, makes the partitions of the coming months, and
 * deletes old expired holds. Safe to run on every node at once.
 */
export async function upkeep(sql: SQL, nowMs: number | null): Promise<void> {
  await sealSilentLanes(sql, nowMs)
  if ((await partitionMonthsAhead(sql)) < PARTITION_MONTHS) await addPartitions(sql)
  await sql`DELETE FROM text_holds WHERE (id_key, id_tail) IN (
    SELECT id_key, id_tail FROM text_holds WHERE expired_at_ms <= now_ms(${nowMs}) - ${EXPIRED_KEPT_MS}::bigint
      LIMIT ${DELETED_MAX})`
}

/** A sentence for the operator if charges of the next month could not be written. */
export async function partitionProblem(query: ReadQuery): Promise<string | undefined> {
  if ((await partitionMonthsAhead(query)) >= 1) return undefined
  return `The database has no partition for the charges of the next month, so they could not be written. Run SELECT add_partitions(${PARTITION_MONTHS}) in it as the owner of the tables.`
}

/** The nodes that were not stopped. */
export async function runningNodes(query: ReadQuery): Promise<readonly RunningNode[]> {
  const rows = await query<
    {
      label: string
      version: string
      is_too_old: boolean
      number: bigint
      epoch: bigint
      seen_at_ms: bigint
      holds: bigint
    }[]
  >`
    SELECT label, version, migration < (SELECT max(min_number) FROM migrations) AS is_too_old, number, epoch, seen_at_ms, (
        SELECT count(*) FROM text_holds h
          WHERE h.lane = l.number AND h.epoch = l.epoch AND expired_at_ms IS NULL
      ) AS holds
      FROM lanes l WHERE seen_at_ms > 0 ORDER BY number`
  return rows.map(({ label, version, is_too_old: isTooOld, number, epoch, seen_at_ms: seenAtMs, holds }) => ({
    name: label,
    version,
    isTooOld,
    lane: { number: Number(number), epoch: Number(epoch) },
    seenAtMs: Number(seenAtMs),
    textHolds: Number(holds),
  }))
}
