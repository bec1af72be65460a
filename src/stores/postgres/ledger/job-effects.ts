import { BudgetAlerts } from '../../books/events/budget-alerts.ts'
import type { Events } from '../../books/events/events.ts'
import type { JobEffects } from '../../books/jobs/jobs.ts'
import type { Batches } from '../lanes/batches.ts'
import { LANE_TTL_MS } from '../lanes/lane.ts'
import type { StepLimits } from '../limits/step-limits.ts'
import { tellRefusal } from '../limits/untold-alerts.ts'

/**
 * The effects of jobs in PostgreSQL. The process that submits a job is named by its lane and epoch. It has ended if the
 * lane has another epoch now or was given back, and counts as ended if the lane was not seen for `LANE_TTL_MS`.
 */
export function createJobEffects({
  batches,
  stepLimits,
  events,
  nowMs = () => null,
}: {
  readonly batches: Batches
  readonly stepLimits: StepLimits
  readonly events: Events
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number | null
}): JobEffects {
  const budgetAlerts = new BudgetAlerts(events)
  return {
    *takeLimits({ accountId, free }, demand, { isCovered }) {
      const taken = yield* stepLimits.take(accountId, demand, { free, isCovered })
      if (taken.outcome === 'limited')
        yield* tellRefusal({ accountId, refusal: taken.refusal }, budgetAlerts, nowMs())
      return taken
    },
    giveBackLimits: ({ accountId }, demand) => stepLimits.giveBack(accountId, demand),
    submitter: () => batches.process,
    left: () => ({
      sql: `NOT EXISTS (SELECT number FROM lanes WHERE 'lane-' || number || '/' || epoch = jobs.node
        AND seen_at_ms > now_ms(CAST(? AS bigint)) - ${LANE_TTL_MS})`,
      values: [nowMs()],
    }),
  }
}
