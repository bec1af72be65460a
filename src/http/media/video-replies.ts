import type { Job } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import { jsonReply } from '../request-context.ts'
import { unixSeconds, unfinishedReply, type Creation } from './created-job.ts'
import { failureError } from './failed-job.ts'

const MS = 1000

/** The reply to the request that created a video job. `baseUrl` is where this request reached the gateway. */
export function createdVideoReply(job: Job, creation: Creation, baseUrl: string) {
  if (job.state === 'completed') return jsonReply(200, completed(job, baseUrl))
  return unfinishedReply(job, creation, { model: job.model, created: unixSeconds(job.createdAtMs) })
}

/** The reply to `GET /v1/videos/{id}`: 200 for every state of the caller's own job. */
export function videoReply(job: Job, baseUrl: string) {
  if (job.state === 'completed') return jsonReply(200, completed(job, baseUrl))
  const common = { ...identity(job), status: job.state === 'queued' ? 'pending' : job.state }
  if (job.state === 'failed') return jsonReply(200, { ...common, cost_usd: '0', error: failureError(job) })
  return jsonReply(200, { ...common, estimated_cost_usd: formatUsd(job.held) })
}

function identity(job: Job) {
  return { id: publicId(job), model: job.model, created: unixSeconds(job.createdAtMs) }
}

function completed(job: Job, baseUrl: string): object {
  const url = `${baseUrl}/v1/videos/${publicId(job)}/content`
  const isArchived = job.archivedAtMs !== null
  return {
    ...identity(job),
    status: 'completed',
    ...(job.durationMs === null ? {} : { duration: job.durationMs / MS }),
    cost_usd: formatUsd(job.cost ?? job.held),
    data: isArchived ? [] : [{ url }],
    ...(isArchived ? { archived: true } : {}),
  }
}
