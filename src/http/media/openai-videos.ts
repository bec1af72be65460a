import { isFinal, type Job, type JobState } from '../../domain/jobs/job.ts'
import { formatUsd } from '../../domain/money.ts'
import { MS_PER_S } from '../../domain/time.ts'
import { deleteVideo } from '../../gateway/media/delete-video.ts'
import { publicId } from '../../gateway/media/job-id.ts'
import { ownJob } from '../../gateway/media/read-job.ts'
import type { Blobs } from '../../gateway/ports/media/blobs.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import type { Jobs } from '../../gateway/ports/media/jobs.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { refuseUnknown, wrongParameter } from '../list-query.ts'
import { jsonReply, type HttpReply } from '../request-context.ts'
import { completedVideo, failureError, unfinishedReply, unixSeconds, type Creation } from './job-replies.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100
/** Longer prompts are cut in lists, not in the reply about one video. */
const LISTED_PROMPT_CHARS = 2000

/** The SDKs know four states. They wait as long as a job is `queued` or `in_progress`. */
const statusOf = {
  queued: 'queued',
  processing: 'in_progress',
  unknown_submit: 'in_progress',
  completed: 'completed',
  failed: 'failed',
} as const satisfies Record<JobState, string>

/** What a reply about a video depends on, besides its job. */
export type Shown = {
  /** Where the request reached the gateway. */
  readonly baseUrl: string
  /** How long clips are kept; undefined for without a limit. */
  readonly videoRetentionMs: number | undefined
}

/** A video as the OpenAI SDKs know it, and the money of its job. */
function openAiVideo(job: Job, { baseUrl, videoRetentionMs }: Shown): object {
  const { state, failure, durationMs, request, createdAtMs, changedAtMs, archivedAtMs } = job
  const hasClip = state === 'completed' && archivedAtMs === null
  const seconds = (durationMs ?? request.durationMs ?? 0) / MS_PER_S
  const { created: _, ...paid } = state === 'completed' ? completedVideo(job, baseUrl) : { created: 0 }
  return {
    id: publicId(job),
    object: 'video',
    model: job.model,
    progress: isFinal(state) ? 100 : 0,
    created_at: unixSeconds(createdAtMs),
    completed_at: state === 'completed' ? unixSeconds(changedAtMs) : null,
    expires_at:
      hasClip && videoRetentionMs !== undefined ? unixSeconds(changedAtMs + videoRetentionMs) : null,
    prompt: request.prompt,
    seconds: String(seconds),
    size: null,
    remixed_from_video_id: null,
    error: state === 'failed' ? { code: failure?.reason ?? 'failed', ...failureError(job) } : null,
    ...paid,
    ...(state === 'failed' ? { cost_usd: '0' } : {}),
    ...(isFinal(state) ? {} : { estimated_cost_usd: formatUsd(job.held) }),
    status: statusOf[state],
  }
}

/** The reply to the request that created a video job. */
export function createdOpenAiVideo(job: Job, creation: Creation, shown: Shown) {
  if (job.state === 'failed' || job.state === 'unknown_submit') return unfinishedReply(job, creation)
  return jsonReply(job.state === 'completed' ? 200 : 202, openAiVideo(job, shown))
}

/** The reply to `GET /v1/videos/{id}`. */
export function openAiVideoReply(job: Job, shown: Shown) {
  return jsonReply(200, openAiVideo(job, shown))
}

/** `GET /v1/videos`: the video jobs of an account, a page at a time. `after` is the last id of the page before. */
export async function listVideos(
  request: IncomingRequest,
  { accountId }: { readonly accountId: number },
  { jobs, ...shown }: Shown & { readonly jobs: Pick<Jobs, 'find' | 'list'> },
): Promise<HttpReply> {
  const query = new URLSearchParams(request.query)
  refuseUnknown(query, ['limit', 'order', 'after'])
  const after = query.get('after') ?? ''
  const behind = after === '' ? undefined : (await ownJob(after, 'video', accountId, jobs)).id
  const isOldestFirst = readChoice(query, 'order', ['desc', 'asc']) === 'asc'
  const page = { accountId, kind: 'video', limit: readLimit(query), isOldestFirst } as const
  const listed = await jobs.list({ ...page, ...(behind === undefined ? {} : { behind }) })
  const [first, last] = [listed.jobs.at(0), listed.jobs.at(-1)]
  return jsonReply(200, {
    object: 'list',
    data: listed.jobs.map(job => ({ ...openAiVideo(job, shown), prompt: beginningOf(job.request.prompt) })),
    first_id: first === undefined ? null : publicId(first),
    last_id: last === undefined ? null : publicId(last),
    has_more: listed.next !== undefined,
  })
}

/** A list of 100 videos with whole prompts could have hundreds of megabytes. */
function beginningOf(prompt: string): string {
  return prompt.length <= LISTED_PROMPT_CHARS
    ? prompt
    : `${prompt.slice(0, LISTED_PROMPT_CHARS).toWellFormed()}…`
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? String(LIMIT_DEFAULT)
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= LIMIT_MAX) return limit
  throw wrongParameter('limit', `must be a whole number from 1 to ${LIMIT_MAX}`)
}

/** The first value is the default. */
function readChoice(query: URLSearchParams, name: string, choices: readonly string[]): string | undefined {
  const asked = query.get(name) ?? choices[0]
  if (asked !== undefined && choices.includes(asked)) return asked
  throw wrongParameter(name, `must be ${choices.map(choice => `"${choice}"`).join(' or ')}`)
}

/** `DELETE /v1/videos/{id}`. */
export async function deletedVideoReply(
  id: string,
  caller: { readonly accountId: number },
  ports: { readonly jobs: Jobs; readonly blobs: Pick<Blobs, 'remove'>; readonly clock: Clock },
): Promise<HttpReply> {
  const job = await deleteVideo(id, caller, ports)
  return jsonReply(200, { id: publicId(job), object: 'video.deleted', deleted: true })
}

/** The SDKs can ask for a thumbnail or a sprite sheet. A clip must not be taken for one. */
export function refuseVariants(request: Pick<IncomingRequest, 'query'>): void {
  readChoice(new URLSearchParams(request.query), 'variant', ['video'])
}
