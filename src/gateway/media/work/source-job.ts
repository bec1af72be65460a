import type { Provider } from '../../../domain/catalog/provider.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { Job, JobRequest, StoredFile } from '../../../domain/jobs/job.ts'
import { FILE_BYTES_MAX, fileTooLarge } from '../../../protocol/media/media-body.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Jobs } from '../../ports/media/jobs.ts'
import type { Continuation, MediaInput, MediaProvider } from '../../ports/providers/media-provider.ts'
import { acceptedJob } from './ask-provider.ts'
import { parseJobId, publicId } from '../job-id.ts'
import { openClip, type ResultPorts } from '../files/open-result.ts'
import { ownJob } from '../read-job.ts'

const PARAM = 'ref_video_job_id'

/**
 * The caller's own finished job that a request continues. Throws `not_found`, or `ref_video_not_ready` for one without
 * a clip.
 */
export async function sourceJob(
  text: string,
  accountId: number,
  { jobs }: { readonly jobs: Pick<Jobs, 'find'> },
): Promise<Job> {
  const job = await ownJob(text, 'video', accountId, jobs)
  if (job.state === 'completed') return job
  const problem =
    job.state === 'failed' ? 'failed, so it has no video' : 'is not finished. Wait until it is completed'
  throw new GatewayError('ref_video_not_ready', `Job "${text}" ${problem}.`, { param: PARAM })
}

/**
 * How a new job refers to the job that it continues. Throws `ref_video_mismatch` if the provider has no id of that job,
 * `content_archived` if its clip is needed and can no longer be read, and `invalid_field` for a clip that is too large.
 */
export async function sourceOf(
  source: Job,
  continuation: Continuation,
  ports: ResultPorts,
): Promise<Pick<JobRequest, 'refUpstreamId' | 'refJobId'>> {
  if (continuation.from === 'id') {
    if (source.upstreamId !== null) return { refUpstreamId: source.upstreamId }
    const message = 'The provider of the earlier video cannot continue it.'
    throw new GatewayError('ref_video_mismatch', message, { param: PARAM })
  }
  const clip = clipOf(source)
  if (clip === undefined) {
    const message = `The clip of job "${publicId(source)}" was deleted or archived. Send the clip itself as "video".`
    throw new GatewayError('content_archived', message, { param: PARAM, shouldRetry: false })
  }
  if (clip.bytes > FILE_BYTES_MAX) throw fileTooLarge(PARAM, FILE_BYTES_MAX)
  const { stream } = await openClip({ job: source, clip }, { start: 0, end: clip.bytes }, ports)
  stream.cancel()
  return { refJobId: publicId(source) }
}

/** Undefined for a clip that was archived or deleted. */
function clipOf({ archivedAtMs, outputs }: Job): StoredFile | undefined {
  return archivedAtMs === null ? outputs[0] : undefined
}

export type SourceClip = {
  readonly clip: StoredFile
  /** The provider's own link of the clip. */
  readonly link?: Extract<MediaInput, { readonly from: 'url' }>
}

/**
 * The clip of the job that a new one continues; undefined if it was deleted in the meantime. Asks the provider for its
 * link, unless that may have expired. A link needs no upload, and some APIs take their own links only.
 */
export async function sourceClip(
  { kind, upstreamModel: model, request: { refJobId = '', params } }: Job,
  { provider, adapter }: { readonly provider: Provider; readonly adapter: MediaProvider },
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'find'>; readonly clock: Clock },
): Promise<SourceClip | undefined> {
  const id = parseJobId('video', refJobId)
  const source = id === undefined ? undefined : await jobs.find(id)
  const clip = source === undefined ? undefined : clipOf(source)
  if (source === undefined || clip === undefined) return undefined
  const continuation = adapter.continuesFrom?.({ kind, model, params })
  const linkTtlMs = continuation?.from === 'clip' ? continuation.linkTtlMs : 0
  const { upstreamId, changedAtMs } = source
  if (upstreamId === null || clock.now() - changedAtMs > linkTtlMs) return { clip }
  const polled = await adapter.poll(acceptedJob(source, upstreamId, provider))
  const output = polled.outcome === 'finished' ? polled.result.outputs[0] : undefined
  return output?.from === 'url' ? { clip, link: { from: 'url', url: output.url } } : { clip }
}
