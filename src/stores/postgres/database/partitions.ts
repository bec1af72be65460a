import type { SQL } from 'bun'
import type { ReadQuery } from './reads.ts'

/** Enough for an operator to notice that no node adds partitions any more. */
export const PARTITION_MONTHS = 3

/** Adds the partitions of the next months. Repeating it changes nothing. */
export async function addPartitions(sql: SQL): Promise<void> {
  await sql`SELECT add_partitions(${PARTITION_MONTHS})`
}

/**
 * For how many months after the current one there are partitions of operations and charges. Below 1, the writes of the
 * next month would fail; below 0, those of this month do.
 */
export async function partitionMonthsAhead(query: ReadQuery): Promise<number> {
  const [row] = await query<{ ahead: bigint }[]>`
    WITH months AS (
      SELECT inhparent, left(right(relname, 7), 4)::bigint * 12 + right(relname, 2)::bigint AS month
        FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent IN ('operations'::regclass, 'charges'::regclass) AND relname ~ '_[0-9]{4}_[0-9]{2}$'
    ), latest AS (
      SELECT max(month) AS month FROM months GROUP BY inhparent
    ), today AS (
      SELECT clock_timestamp() AT TIME ZONE 'UTC' AS time
    )
    SELECT (SELECT min(month) FROM latest)
      - (SELECT extract(year FROM time) * 12 + extract(month FROM time) FROM today)::bigint AS ahead`
  return Number(row?.ahead ?? -1)
}
