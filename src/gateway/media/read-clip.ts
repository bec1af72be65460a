import { GatewayError } from '../../domain/errors.ts'
import { isFinal } from '../../domain/jobs/job.ts'
import type { PaidClip } from './damaged-results.ts'
import { readJob } from './read-job.ts'

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
