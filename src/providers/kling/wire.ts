import type { Provider } from '../../domain/catalog/provider.ts'
import type { JobRequest } from '../../domain/jobs/job.ts'
import type {
  MediaInput,
  MediaResult,
  PollOutcome,
  Rejection,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/providers/media-provider.ts'
import { isJsonObject } from '../../protocol/json/parse-json.ts'
import {
  reasonOf as reasonOfStatus,
  waitOf,
  failedJob,
  isSuccess,
  statusProblem,
  UNEXPLAINED_FAILURE,
  unusable,
} from '../media/outcomes.ts'
import { costOfCredits, millisecondsOf } from '../media/result-values.ts'
import { otherParams, scenesOf } from '../media/inputs.ts'
import { jsonParts, type BodyPart, type MemberValue } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { readEnvelope, troubleOf, type Envelope, type Trouble } from './envelope.ts'

/** A job is queried under the kind that it was created with. */
type CreateKind = 'text2video' | 'image2video'

export function createKind({ images }: Pick<JobRequest, 'images'> | Pick<SubmitCall, 'images'>): CreateKind {
  return images.length === 0 ? 'text2video' : 'image2video'
}

/** The provider's id of a job, and the kind that it is queried under. */
export type KlingJob = { readonly kind: CreateKind; readonly taskId: string }

/** The upstream id that the gateway stores. */
export function formatUpstreamId({ kind, taskId }: KlingJob): string {
  return `${kind}/${taskId}`
}

/** Undefined for an id of another provider. */
export function parseUpstreamId(upstreamId: string): KlingJob | undefined {
  const [, kind, taskId] = /^(text2video|image2video)\/(.+)$/s.exec(upstreamId) ?? []
  return kind === undefined || taskId === undefined ? undefined : { kind: kind as CreateKind, taskId }
}

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_FIELDS = new Set([
  'model_name',
  'prompt',
  'duration',
  'image',
  'image_tail',
  'external_task_id',
  'callback_url',
  'n',
])

/**
 * The body of a create. The second image is the last frame. The API has no field for more images, for videos or for
 * scenes on these routes. They are sent under separate names, and the provider decides.
 */
export function createBody(call: SubmitCall): readonly BodyPart[] {
  const { jobId, model, prompt, durationMs, refUpstreamId } = call
  const [image, tail, ...others] = call.images.map(inputValue)
  const videos = call.videos.map(inputValue)
  const source = refUpstreamId === undefined ? undefined : parseUpstreamId(refUpstreamId)
  return jsonParts({
    model_name: model,
    prompt,
    ...otherParams(call, OWN_FIELDS),
    duration: durationMs === undefined ? undefined : String(durationMs / 1000),
    external_task_id: jobId,
    image,
    image_tail: tail,
    image_list: others.length === 0 ? undefined : others,
    video: videos.length > 1 ? videos : videos[0],
    video_id: source?.taskId ?? refUpstreamId,
    scenes: scenesOf(call),
  })
}

function inputValue(input: MediaInput): MemberValue {
  switch (input.from) {
    case 'url':
      return input.url
    case 'provider_id':
      return input.id
    case 'bytes':
      return input
  }
}

/** The outcome of an answer to a create. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readCreated(answer: MediaAnswer, kind: CreateKind): SubmitOutcome {
  const { status, body } = answer
  const envelope = readEnvelope(body)
  const taskId = taskIdOf(envelope)
  const code = envelope?.code ?? (taskId === undefined ? undefined : 0)
  const trouble = code === undefined ? undefined : troubleOf(code)
  // With an undocumented code, the id may still be the id of a job. Recovery checks it.
  const mayExist = trouble === 'server' || (trouble === 'unlisted' && taskId !== undefined)
  if (status >= 500 || (isSuccess(answer) && mayExist))
    return { outcome: 'unknown', problem: statusProblem(answer, shownCode(answer)) }
  if (!isSuccess(answer) || (trouble !== undefined && trouble !== 'unlisted'))
    return rejected(answer, reasonOf(status, trouble), envelope)
  if (taskId === undefined) return rejected(answer, 'no_id', envelope)
  return { outcome: 'accepted', upstreamId: formatUpstreamId({ kind, taskId }) }
}

/** The id of a task; undefined for an id that cannot be part of a path. */
function taskIdOf(envelope: Envelope | undefined): string | undefined {
  const id = envelope?.data?.['task_id']
  const text = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id
  const isUsable = typeof text === 'string' && text.isWellFormed() && !/^\.{0,2}$/.test(text)
  return isUsable ? text : undefined
}

/** A documented code decides; otherwise the HTTP status does. */
function reasonOf(status: number, trouble: Trouble | undefined): Rejection['reason'] {
  if (trouble !== undefined && trouble !== 'server' && trouble !== 'unlisted') return trouble
  return reasonOfStatus(status)
}

function rejected(
  answer: MediaAnswer,
  reason: Rejection['reason'],
  envelope: Envelope | undefined,
): SubmitOutcome {
  const { code, message } = envelope ?? {}
  return {
    outcome: 'rejected',
    reason,
    status: answer.status,
    message: message ?? 'The provider refused the job and did not say why.',
    ...(code === undefined || code === 0 ? {} : { code: String(code) }),
    ...waitOf(answer),
  }
}

/** The state of a job in the answer to a query. A job that has ended may state the units that it cost. */
export function readTask(answer: MediaAnswer, provider: Pick<Provider, 'creditUsd'>): PollOutcome {
  const envelope = readEnvelope(answer.body)
  const word = envelope?.data?.['task_status']
  const isRead = isSuccess(answer) && (envelope?.code ?? 0) === 0
  if (!isRead || typeof word !== 'string' || word === '') return unusable(answer, shownCode(answer))
  const data = envelope?.data ?? {}
  const state = stateOf[word.toLowerCase()]
  const cost = costOfCredits(data['final_unit_deduction'], provider)
  if (state === 'finished') return { outcome: 'finished', result: { ...resultOf(data), ...cost } }
  if (state === 'failed') return { ...failedJob(failureOf(data)), ...cost }
  return { outcome: 'running', upstreamStatus: word, isKnownStatus: state === 'running' }
}

/** The API writes `succeed`. Servers that offer the same API write it in other ways as well. */
const stateOf: Readonly<Record<string, 'running' | 'finished' | 'failed'>> = {
  submitted: 'running',
  processing: 'running',
  succeed: 'finished',
  succeeded: 'finished',
  success: 'finished',
  completed: 'finished',
  failed: 'failed',
}

/** Our id of the job that the task was created for. Undefined if the answer does not name it. */
export function externalIdOf(answer: MediaAnswer): string | undefined {
  const info = readEnvelope(answer.body)?.data?.['task_info']
  const id = isJsonObject(info) ? info['external_task_id'] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** The job that the answer to a query is about. */
export function taskOf(answer: MediaAnswer, kind: CreateKind): KlingJob | undefined {
  const taskId = taskIdOf(readEnvelope(answer.body))
  return taskId === undefined ? undefined : { kind, taskId }
}

function resultOf(data: Readonly<Record<string, unknown>>): MediaResult {
  const result = data['task_result']
  const listed = isJsonObject(result) ? result['videos'] : undefined
  const videos = (Array.isArray(listed) ? listed : []).filter(isJsonObject)
  const outputs = videos.flatMap(({ url }) =>
    typeof url === 'string' && url !== '' ? [{ from: 'url', url } as const] : [],
  )
  const durationMs = millisecondsOf(videos[0]?.['duration'])
  return { outputs, isCounted: true, ...(durationMs === undefined ? {} : { durationMs }) }
}

function failureOf({ task_status_msg: message }: Readonly<Record<string, unknown>>): string {
  return typeof message === 'string' && message !== '' ? message : UNEXPLAINED_FAILURE
}

/** For the operator. */
function shownCode({ body }: MediaAnswer): number | undefined {
  const code = readEnvelope(body)?.code
  return code === 0 ? undefined : code
}
