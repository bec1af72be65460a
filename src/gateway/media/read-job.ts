import { GatewayError } from '../../domain/errors.ts'
import { isFinal, type Job, type JobKind } from '../../domain/jobs/job.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/media/jobs.ts'
import type { PaidClip } from './files/open-result.ts'
import { parseJobId } from './job-id.ts'
import type { JobRunner } from './work/job-runner.ts'
import { within } from './wait-for-job.ts'

/** How long a reader waits for the provider's answer to a poll. After that it gets the job as it was. */
const READ_WAIT_MS = 2000

/**
 * A job of the caller's account, after a poll of its provider if one is due. Throws `not_found` for an id that does not
 * exist, belongs to another account, or is a job of another kind.
 */
export async function readJob(
  text: string,
  kind: JobKind,
  { accountId }: { readonly accountId: number },
  { jobs, runner, clock }: { readonly jobs: Jobs; readonly runner: JobRunner; readonly clock: Clock },
): Promise<Job> {
  const job = await ownJob(text, kind, accountId, jobs)
  if (job.state !== 'processing') return job
  await within(READ_WAIT_MS, runner.poll(job), { clock })
  return (await jobs.find(job.id)) ?? job
}

/** Like `readJob`, without a poll. */
export async function ownJob(
  text: string,
  kind: JobKind,
  accountId: number,
  jobs: Pick<Jobs, 'find'>,
): Promise<Job> {
  const id = parseJobId(kind, text)
  const job = id === undefined ? undefined : await jobs.find(id)
  if (job === undefined || job.accountId !== accountId || job.kind !== kind)
    throw new GatewayError('not_found', `There is no ${kind} job "${text.slice(0, 60)}".`)
  return job
}

/**
 * The clip of a video job of the caller's account, after a poll of its provider if one is due. Throws `not_found` like
 * `readJob`, `video_not_ready` if there is no clip, and `content_archived`.
 */
export async function readClip(
  text: string,
  caller: { readonly accountId: number },
  ports: Parameters<typeof readJob>[3],
): Promise<PaidClip> {
  const job = await readJob(text, 'video', caller, ports)
  if (job.archivedAtMs !== null) {
    throw new GatewayError('content_archived', 'This clip was archived and can no longer be read.', {
      shouldRetry: false,
    })
  }
  const [clip] = job.outputs
  if (clip !== undefined) return { job, clip }
  if (!isFinal(job.state))
    throw new GatewayError('video_not_ready', 'This job is not finished. Try again later.')
  throw new GatewayError('video_not_ready', 'This job failed and has no clip.', { shouldRetry: false })
}
