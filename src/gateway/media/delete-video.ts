import { GatewayError } from '../../domain/errors.ts'
import { isFinal, type Job } from '../../domain/jobs/job.ts'
import type { Blobs } from '../ports/media/blobs.ts'
import type { Clock } from '../ports/clock.ts'
import type { Jobs } from '../ports/media/jobs.ts'
import { ownJob } from './read-job.ts'

/**
 * Deletes the clip of an ended job of the caller's account. The job and its charge stay, and the job then answers like
 * an archived one. Repeating it changes nothing. Throws `not_found` like `readJob`, and `video_not_ready` for a job
 * that runs: its provider would still be paid.
 */
export async function deleteVideo(
  text: string,
  { accountId }: { readonly accountId: number },
  ports: {
    readonly jobs: Pick<Jobs, 'find' | 'archive'>
    readonly blobs: Pick<Blobs, 'remove'>
    readonly clock: Clock
  },
): Promise<Job> {
  const job = await ownJob(text, 'video', accountId, ports.jobs)
  if (!isFinal(job.state)) {
    const message = 'This job is not finished, so it cannot be deleted. Try again when it has ended.'
    throw new GatewayError('video_not_ready', message, { shouldRetry: false })
  }
  // Marked first: a clip that is gone while its job has it would be reported as damaged.
  await ports.jobs.archive(job.id, ports.clock.now())
  for (const { key } of job.outputs) await ports.blobs.remove(key)
  return job
}
