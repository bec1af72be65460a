import type { BesideJobs } from '../books/jobs/jobs.ts'
import type { Batches } from './batches.ts'
import { LANE_TTL_MS } from './lane.ts'

/**
 * What PostgreSQL keeps beside jobs. The process that submits a job is named by its lane and epoch. It has ended if the
 * lane has another epoch now or was given back, and counts as ended if the lane was not seen for `LANE_TTL_MS`.
 */
export function createBesideJobs({
  batches,
  nowMs = () => null,
}: {
  readonly batches: Batches
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number | null
}): BesideJobs {
  return {
    *takeLimits() {
      return { outcome: 'taken', rates: {} }
    },
    *giveBackLimits() {},
    submitter: () => batches.process,
    left: () => ({
      sql: `NOT EXISTS (SELECT number FROM lanes WHERE 'lane-' || number || '/' || epoch = jobs.node
        AND seen_at_ms > now_ms(CAST(? AS bigint)) - ${LANE_TTL_MS})`,
      values: [nowMs()],
    }),
  }
}
