import type {
  PollOutcome,
  SubmitCall,
  SubmitOutcome,
  MediaResult,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import {
  isUsableId,
  reasonOf,
  waitOf,
  failedJob,
  isSuccess,
  statusProblem,
  unusable,
} from '../media/outcomes.ts'
import { millisecondsOf, linkOutput } from '../media/result-values.ts'
import { linkOf, otherParams, scenesOf, IMAGE_FIELD, namedImages } from '../media/inputs.ts'
import { jsonParts, type SubmitBody } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'

/** A request in the queue. The app is its address there, such as `fal-ai/flux`. */
type FalJob = { readonly app: string; readonly requestId: string }

/** The upstream id that the gateway stores. */
export function formatUpstreamId({ app, requestId }: FalJob): string {
  return `${app}/requests/${requestId}`
}

/** Undefined for an id of another provider. */
export function parseUpstreamId(upstreamId: string): FalJob | undefined {
  const [, app, requestId] = /^(.+?)\/requests\/(.+)$/s.exec(upstreamId) ?? []
  return app === undefined || requestId === undefined || !isApp(app) ? undefined : { app, requestId }
}

/** The path of a request in the queue, under the base URL. */
export function pathOf({ app, requestId }: FalJob): string {
  return `/${app}/requests/${encodeURIComponent(requestId)}`
}

/**
 * The app of a model: its owner and name. The rest of a model's name, such as `/text-to-video`, is only part of the
 * address of the submission. Two namespaces have one more segment.
 */
export function appOf(model: string): string {
  const segments = model.split('/').filter(segment => segment !== '')
  const isNamespaced = segments[0] === 'workflows' || segments[0] === 'comfy'
  return segments.slice(0, isNamespaced ? 3 : 2).join('/')
}

/** Whether a text can be the address of an app. */
export function isApp(text: string): boolean {
  return /^[\w-][\w.-]*(?:\/[\w-][\w.-]*){1,2}$/.test(text)
}

/** Never sent from a row's parameters: the adapter sets them itself, or they change the number or form of results. */
const OWN_FIELDS = new Set([
  'prompt',
  'duration',
  'image_url',
  'image_urls',
  'video_url',
  'video_urls',
  'num_images',
  'sync_mode',
  'scenes',
  IMAGE_FIELD,
])

/** Models that edit or combine images take a list, even for one image. */
const TAKES_LIST = /(?:^|\/)(?:edit|multi|reference-to-video)(?:\/|$)/

/**
 * The body of a submission: the input of the model. Bytes go as data URLs. Scenes are sent, because the row says that
 * its model makes storyboards.
 */
export function createBody(call: SubmitCall): SubmitBody {
  const { model, prompt, params, durationMs } = call
  const images = call.images.map(linkOf)
  const videos = call.videos.map(linkOf)
  const hasList = images.length > 1 || (images.length === 1 && TAKES_LIST.test(model))
  return jsonParts({
    prompt,
    ...otherParams(call, OWN_FIELDS),
    duration: durationMs === undefined ? undefined : durationOf(model, durationMs / 1000),
    ...(namedImages(params, images) ?? (hasList ? { image_urls: images } : { image_url: images[0] })),
    video_url: videos.length > 1 ? undefined : videos[0],
    video_urls: videos.length > 1 ? videos : undefined,
    scenes: scenesOf(call),
  })
}

/** Most models take seconds as text. The families of Veo and Sora differ. */
function durationOf(model: string, seconds: number): string | number {
  if (/(?:^|\/)veo/.test(model)) return `${seconds}s`
  return /(?:^|\/)sora/.test(model) ? seconds : String(seconds)
}

/** The outcome of an answer to a submission. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readCreated(
  answer: MediaAnswer,
  { model, baseUrl }: { readonly model: string; readonly baseUrl: URL },
): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: statusProblem(answer, errorOf(answer).code) }
  if (!isSuccess(answer))
    return { outcome: 'rejected', reason: reasonOf(status), status, ...errorOf(answer), ...waitOf(answer) }
  const created = findJsonObject(body)
  const requestId = created?.['request_id']
  if (!isUsableId(requestId))
    return { outcome: 'rejected', reason: 'no_id', status, message: 'The answer names no request.' }
  const app = appIn(created?.['response_url'], requestId, baseUrl) ?? appOf(model)
  return { outcome: 'accepted', upstreamId: formatUpstreamId({ app, requestId }) }
}

/**
 * The app in the link to a result, which is more reliable than the rule for names of models. Undefined for a link that
 * is not under the base URL, because the operator's key is sent nowhere else.
 */
function appIn(link: unknown, requestId: string, baseUrl: URL): string | undefined {
  const url = typeof link === 'string' ? URL.parse(link) : null
  const base = `${baseUrl.pathname.replace(/\/$/, '')}/`
  const end = `/requests/${encodeURIComponent(requestId)}`
  if (url?.origin !== baseUrl.origin || !url.pathname.startsWith(base) || !url.pathname.endsWith(end))
    return undefined
  const app = url.pathname.slice(base.length, -end.length)
  return isApp(app) ? app : undefined
}

/** The state of a job in the answer to a query of its status. A completed job has a result to read, or an error. */
export function readStatus(answer: MediaAnswer): PollOutcome | 'completed' {
  const status = isSuccess(answer) ? findJsonObject(answer.body) : undefined
  const word = status?.['status']
  if (typeof word !== 'string' || word === '') return unusable(answer, errorOf(answer).code)
  const state = stateOf[word.toUpperCase()]
  if (state === 'failed' || (state === 'completed' && hasError(status))) return failed(answer)
  if (state === 'completed') return 'completed'
  return { outcome: 'running', upstreamStatus: word, isKnownStatus: state === 'running' }
}

/** The API has the first three. The others appear in third-party descriptions of it. */
const stateOf: Readonly<Record<string, 'running' | 'completed' | 'failed'>> = {
  IN_QUEUE: 'running',
  IN_PROGRESS: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  ERROR: 'failed',
  CANCELED: 'failed',
  CANCELLED: 'failed',
}

function hasError(status: Readonly<Record<string, unknown>> | undefined): boolean {
  const { error, error_type: type } = status ?? {}
  return (typeof error === 'string' && error !== '') || (typeof type === 'string' && type !== '')
}

/**
 * The answer to a query of a completed job's result. A failed job has the error of the model as its result: a list, or
 * a text with the status 422. Any other error is an error of the query; an error of the queue is in the status of the
 * job.
 */
export function readResult(answer: MediaAnswer): PollOutcome {
  const { status, body } = answer
  if (isSuccess(answer)) {
    const value = findJsonObject(body)
    return value === undefined
      ? unusable(answer, errorOf(answer).code)
      : { outcome: 'finished', result: readOutputs(value) }
  }
  if (status === 400 && /still in progress/i.test(body))
    return { outcome: 'running', upstreamStatus: 'COMPLETED', isKnownStatus: true }
  return isErrorOfJob(answer) ? failed(answer) : unusable(answer, errorOf(answer).code)
}

/** Statuses of refused queries: they say nothing about the job. */
const QUERY_REFUSED = new Set([401, 402, 403, 404, 405, 408, 429])

function isErrorOfJob({ status, body }: MediaAnswer): boolean {
  if (status < 400 || QUERY_REFUSED.has(status)) return false
  const detail = findJsonObject(body)?.['detail']
  if (Array.isArray(detail)) return detail.some(isJsonObject)
  return status === 422 && typeof detail === 'string'
}

function failed(answer: MediaAnswer): PollOutcome {
  const { message, code } = errorOf(answer)
  return failedJob(message, code)
}

/** The code and the message of an error, in any of the API's forms. */
function errorOf({ body, contentType }: MediaAnswer): { readonly code?: string; readonly message: string } {
  const value = findJsonObject(body) ?? {}
  const { detail, error_type: type } = value
  const first = Array.isArray(detail) ? detail.find(isJsonObject)?.['type'] : undefined
  const code = [first, type].find(name => typeof name === 'string' && name !== '')
  const { message } = readUpstreamError(body, contentType)
  return { message, ...(typeof code === 'string' ? { code } : {}) }
}

type Members = Readonly<Record<string, unknown>>

/** Members that have files. The first member with a file counts, because the images beside a video are its preview. */
const FILE_MEMBERS = ['video', 'videos', 'images', 'image']

/**
 * The files in the output of a model. Each model has its own form of output. Models of images and videos have their
 * files in one of these members, as a file or as a list of files.
 */
function readOutputs(output: Members): MediaResult {
  const lists = FILE_MEMBERS.map(name => filesIn(output[name]))
  const files = lists.find(({ length }) => length > 0) ?? []
  const durationMs = millisecondsOf(files[0]?.['duration']) ?? millisecondsOf(output['duration'])
  return {
    outputs: files.flatMap(({ url }) => linkOutput(url) ?? []),
    isCounted: true,
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

function filesIn(value: unknown): readonly Members[] {
  const files = (Array.isArray(value) ? value : [value]).flatMap((file): readonly Members[] =>
    typeof file === 'string' ? [{ url: file }] : isJsonObject(file) ? [file] : [],
  )
  return files.filter(({ url }) => typeof url === 'string' && url !== '')
}
