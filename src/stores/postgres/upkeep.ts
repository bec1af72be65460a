import type { SQL } from 'bun'
import type { RunningNode } from '../../gateway/ports/nodes/nodes.ts'
import { addPartitions, PARTITION_MONTHS, partitionMonthsAhead } from './database/partitions.ts'
import type { ReadQuery } from './database/reads.ts'
import { sealSilentLanes } from './lanes/stored-rows.ts'

/** How long an expired hold stays: until then, its request can still be charged. */
const EXPIRED_KEPT_MS = 86_400_000
/** One statement must not hold many locks. What is left is deleted by the next run. */
const DELETED_MAX = 10_000

/**
 * Seals the lanes of dead nodes, makes the partitions of the coming months, and deletes old expired holds. One node
 * must do it now and then. Safe to run on every node at once.
 */
export async function upkeep(sql: SQL, nowMs: number | null): Promise<void> {
  await sealSilentLanes(sql, nowMs)
  if ((await partitionMonthsAhead(sql)) < PARTITION_MONTHS) await addPartitions(sql)
  await sql`DELETE FROM text_holds WHERE (id_key, id_tail) IN (
    SELECT id_key, id_tail FROM text_holds WHERE expired_at_ms <= now_ms(${nowMs}) - ${EXPIRED_KEPT_MS}::bigint
      LIMIT ${DELETED_MAX})`
}

/** A sentence for the operator if charges of this month or the next one cannot be written. */
export async function partitionProblem(query: ReadQuery): Promise<string | undefined> {
  const ahead = await partitionMonthsAhead(query)
  if (ahead >= 1) return undefined
  const missing = ahead < 0 ? 'this month, so they cannot' : 'the next month, so they could not'
  return `The database has no partition for the charges of ${missing} be written. Run SELECT add_partitions(${PARTITION_MONTHS}) in it as the owner of the tables.`
}

/** A sentence for the operator if the role of the gateway could change charges and delete tables. */
export async function ownerWarning(query: ReadQuery): Promise<string | undefined> {
  const [row] = await query<{ isOwner: boolean; role: string }[]>`
    SELECT pg_has_role(relowner, 'USAGE') AS "isOwner", current_user::text AS role
      FROM pg_class WHERE oid = 'charges'::regclass`
  if (row?.isOwner !== true) return undefined
  return `The role ${row.role} of TOLLGATE_DATABASE_URL owns the tables, so it can change charges and delete tables. Give the gateway a role that owns nothing, and set TOLLGATE_DATABASE_OWNER_URL to this one.`
}

/** Stores how far the clock of a process is ahead of the database's. `process` is its name in its lane. */
export async function noteClockOffset(
  query: ReadQuery,
  { process, offsetMs }: { readonly process: string; readonly offsetMs: number },
): Promise<void> {
  await query`UPDATE lanes SET clock_offset_ms = ${offsetMs}::bigint
    WHERE 'lane-' || number || '/' || epoch = ${process}`
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
      clock_offset_ms: bigint | null
      holds: bigint
    }[]
  >`
    SELECT label, version, migration < (SELECT max(min_number) FROM migrations) AS is_too_old, number, epoch, seen_at_ms,
      clock_offset_ms, (
        SELECT count(*) FROM text_holds h
          WHERE h.lane = l.number AND h.epoch = l.epoch AND expired_at_ms IS NULL
      ) AS holds
      FROM lanes l WHERE seen_at_ms > 0 ORDER BY number`
  return rows.map(row => ({
    name: row.label,
    version: row.version,
    isTooOld: row.is_too_old,
    lane: { number: Number(row.number), epoch: Number(row.epoch) },
    seenAtMs: Number(row.seen_at_ms),
    clockOffsetMs: row.clock_offset_ms === null ? null : Number(row.clock_offset_ms),
    textHolds: Number(row.holds),
  }))
}
