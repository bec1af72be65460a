import type { SQL } from 'bun'
import type { ReadQuery } from './reads.ts'

/** Enough for an operator to notice that no node adds partitions any more. */
export const PARTITION_MONTHS = 3

/** Adds the partitions of this month and the next ones that are missing. Repeating it changes nothing. */
export async function addPartitions(sql: SQL): Promise<void> {
  await sql`SELECT add_partitions(${PARTITION_MONTHS})`
}

/**
 * For how many months after the current one there are partitions of operations and charges without a gap, at most
 * `PARTITION_MONTHS`. Below 1, the writes of the next month would fail; below 0, those of this month do.
 */
export async function partitionMonthsAhead(query: ReadQuery): Promise<number> {
  const [row] = await query<{ ahead: bigint }[]>`
    WITH ranges AS MATERIALIZED (
      SELECT name, from_key, to_key FROM unnest(ARRAY['operations', 'charges']) AS name, partition_ranges(name::regclass)
    ), months AS (
      SELECT ahead, date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + make_interval(months => ahead) AS month
        FROM generate_series(0, ${PARTITION_MONTHS}::integer) AS ahead
    )
    SELECT coalesce(min(ahead), ${PARTITION_MONTHS}::integer + 1)::bigint - 1 AS ahead
      FROM months, unnest(ARRAY['operations', 'charges']) AS tables (name)
      WHERE NOT EXISTS (
        SELECT FROM ranges WHERE ranges.name = tables.name
          AND from_key <= first_key(month) AND to_key >= first_key(month + interval '1 month')
      )`
  return Number(row?.ahead ?? -1)
}
