import { formatId } from '../ids.ts'
import { jobIdPrefix, type Job } from '../jobs/job.ts'
import { formatUsd, ZERO } from '../money.ts'
import type { NewEvent } from './event.ts'

/** A key is told to expire this long before. */
export const EXPIRY_LEAD_MS = 7 * 24 * 3_600_000

/** The event of a job that ended, with what its account can read of it. */
export function jobFinishedEvent(job: Job, atMs: number): NewEvent {
  const { id, kind, state, model, accountId, failure, createdAtMs } = job
  const error = failure && { message: failure.message, code: failure.code ?? null }
  return {
    type: 'job.finished',
    accountId,
    data: {
      job: formatId(jobIdPrefix[kind], id),
      status: state,
      model,
      cost_usd: formatUsd(state === 'completed' ? (job.cost ?? ZERO) : ZERO),
      error,
      created_at: new Date(createdAtMs).toISOString(),
    },
    atMs,
  }
}

/** The event of a key that expires soon. */
export function keyExpiringEvent(
  {
    accountId,
    id,
    name,
    expiresAt,
  }: {
    readonly accountId: number
    /** `key_…` */
    readonly id: string
    readonly name: string
    readonly expiresAt: string
  },
  atMs: number,
): NewEvent {
  return { type: 'key.expiring', accountId, data: { key: { id, name }, expires_at: expiresAt }, atMs }
}
