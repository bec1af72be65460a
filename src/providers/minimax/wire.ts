import type {
  MediaResult,
  PollOutcome,
  Rejection,
  SubmitOutcome,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import {
  UNEXPLAINED_FAILURE,
  UNEXPLAINED_REJECTION,
  isSuccess,
  isUsableId,
  statusProblem,
  reasonOf,
  unavailable as notAvailable,
  unusable,
  waitOf,
  type Unavailable,
} from '../media/outcomes.ts'
import { linkOutput, millisecondsOf } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import type { Version } from './submit-body.ts'

/** The provider's id of a job, and the version of the API that has it. */
type MinimaxJob = { readonly version: Version; readonly taskId: string }

/** The upstream id that the gateway stores. */
export function formatUpstreamId({ version, taskId }: MinimaxJob): string {
  return `${version}/${taskId}`
}

/** Undefined for an id of another provider. */
export function parseUpstreamId(upstreamId: string): MinimaxJob | undefined {
  const [, version, taskId] = /^(v1|v2)\/(.+)$/s.exec(upstreamId) ?? []
  return version === undefined || taskId === undefined ? undefined : { version: version as Version, taskId }
}

/** The outcome of an answer to a submission. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readSubmitted(answer: MediaAnswer, version: Version): SubmitOutcome {
  const envelope = readEnvelope(answer.body)
  const trouble = troubleOf(envelope?.code)
  if (answer.status >= 500 || (isSuccess(answer) && trouble === 'server'))
    return { outcome: 'unknown', problem: statusProblem(answer, shownCode(answer)) }
  const taskId = taskIdOf(envelope)
  // With an undocumented code, the id is still the id of a job, and polls show its state.
  if (isSuccess(answer) && taskId !== undefined && (trouble === undefined || trouble === 'unlisted'))
    return { outcome: 'accepted', upstreamId: formatUpstreamId({ version, taskId }) }
  if (isSuccess(answer) && (trouble === undefined || trouble === 'unlisted'))
    return rejected(answer, 'no_id', envelope)
  return rejected(answer, rejectionReason(answer.status, trouble), envelope)
}

/** The id of a task; undefined for an id that cannot be part of a path. */
function taskIdOf(envelope: Envelope | undefined): string | undefined {
  const id = nameOf(envelope?.body['task_id'])
  return isUsableId(id) ? id : undefined
}

/** A documented code decides; otherwise the HTTP status does. */
function rejectionReason(status: number, trouble: Trouble | undefined): Rejection['reason'] {
  return trouble === undefined || trouble === 'server' || trouble === 'unlisted' ? reasonOf(status) : trouble
}

function rejected(
  answer: MediaAnswer,
  reason: Rejection['reason'],
  envelope: Envelope | undefined,
): SubmitOutcome {
  const { code, message = UNEXPLAINED_REJECTION } = envelope ?? {}
  const { status } = answer
  return { outcome: 'rejected', reason, status, message, ...codeOf(code), ...waitOf(answer) }
}

/** A job of v1 is finished only when its file can be retrieved. */
type PolledV1 = PollOutcome | { readonly outcome: 'made'; readonly fileId: string }

/**
 * The state of a job in the answer to a query of v1. The code comes first: if a code is about the operator's account,
 * the rate of queries or the server, the answer says nothing about the job.
 */
export function readTaskV1(answer: MediaAnswer): PolledV1 {
  const envelope = readEnvelope(answer.body)
  const word = envelope?.body['status']
  const trouble = troubleOf(envelope?.code)
  if (!isSuccess(answer) || envelope === undefined || typeof word !== 'string' || word === '')
    return unavailable(answer)
  const state = statesOfV1[word.toLowerCase()]
  const isOfJob = trouble === undefined || trouble === 'invalid' || trouble === 'unlisted'
  if (state === 'failed' && isOfJob) return failed(envelope.code, envelope.message)
  if (trouble !== undefined) return unavailable(answer)
  if (state !== 'finished')
    return { outcome: 'running', upstreamStatus: word, isKnownStatus: state === 'running' }
  const fileId = fileIdOf(answer.body)
  return fileId === undefined
    ? notAvailable(`${statusProblem(answer)}, no file`)
    : { outcome: 'made', fileId }
}

const statesOfV1: Readonly<Record<string, 'running' | 'finished' | 'failed'>> = {
  preparing: 'running',
  queueing: 'running',
  processing: 'running',
  success: 'finished',
  fail: 'failed',
}

/** Read as text, because a number of this length loses its last digits. */
function fileIdOf(body: string): string | undefined {
  const [, fileId] = /"file_id"\s*:\s*"?([\w-]+)"?\s*[,}]/.exec(body) ?? []
  return fileId === 'null' || fileId === '0' ? undefined : fileId
}

/**
 * The link in the answer that retrieves the file of a job. A job whose file cannot be retrieved is not finished: the
 * link expires, and each poll retrieves a new one.
 */
export function readFile(answer: MediaAnswer): PollOutcome {
  const envelope = readEnvelope(answer.body)
  const file = envelope?.body['file']
  const output = linkOutput(isJsonObject(file) ? file['download_url'] : undefined)
  if (!isSuccess(answer) || troubleOf(envelope?.code) !== undefined || output === undefined)
    return unavailable(answer)
  return { outcome: 'finished', result: { outputs: [output], isCounted: true } }
}

/** The state of a job in the answer to a query of v2. */
export function readTaskV2(answer: MediaAnswer): PollOutcome {
  const envelope = readEnvelope(answer.body)
  const task = envelope?.body['task']
  const word = isJsonObject(task) ? task['status'] : undefined
  if (!isSuccess(answer) || troubleOf(envelope?.code) !== undefined || !isJsonObject(task))
    return unavailable(answer)
  if (typeof word !== 'string' || word === '') return unavailable(answer)
  const state = statesOfV2[word.toLowerCase()]
  if (state === 'finished') return { outcome: 'finished', result: resultOf(task) }
  if (state === 'failed') {
    const error = isJsonObject(task['error']) ? task['error'] : {}
    return failed(nameOf(error['code']), nameOf(error['message']))
  }
  return { outcome: 'running', upstreamStatus: word, isKnownStatus: state === 'running' }
}

const statesOfV2: Readonly<Record<string, 'running' | 'finished' | 'failed'>> = {
  queued: 'running',
  running: 'running',
  succeeded: 'finished',
  failed: 'failed',
  cancelled: 'failed',
}

function resultOf({ content, usage, duration }: Readonly<Record<string, unknown>>): MediaResult {
  const output = linkOutput(isJsonObject(content) ? content['url'] : undefined)
  // The total has the seconds of the inputs too.
  const reported = isJsonObject(usage) ? usage['output_seconds'] : undefined
  const durationMs = millisecondsOf(reported) ?? millisecondsOf(duration)
  return {
    outputs: output === undefined ? [] : [output],
    isCounted: true,
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

/**
 * A job of v2 that failed because of the operator's account ends like any other. Its text is not shown to the client.
 */
function failed(code: string | undefined, message = UNEXPLAINED_FAILURE): PollOutcome {
  if (troubleOf(code) === 'operator') return { outcome: 'failed', message: UNEXPLAINED_FAILURE }
  // v1 repeats the success of the query beside a failed job.
  return troubleOf(code) === undefined
    ? { outcome: 'failed', message: code === undefined ? message : UNEXPLAINED_FAILURE }
    : { outcome: 'failed', message, ...codeOf(code) }
}

function codeOf(code: string | undefined): { readonly code?: string } {
  return code === undefined || troubleOf(code) === undefined ? {} : { code }
}

function unavailable(answer: MediaAnswer): Unavailable {
  return unusable(answer, shownCode(answer))
}

/** For the operator. */
function shownCode({ body }: MediaAnswer): string | undefined {
  return codeOf(readEnvelope(body)?.code).code
}

/** The result code and the content of an answer, in either version of the API. */
type Envelope = {
  /**
   * `base_resp.status_code` of v1: 0 for a success. Of v2, the code or type of its error. Undefined if there is none.
   */
  readonly code: string | undefined
  readonly message: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** Undefined if the body is not a JSON object. */
export function readEnvelope(text: string): Envelope | undefined {
  const body = findJsonObject(text)
  if (body === undefined) return undefined
  const { base_resp: base, error } = body
  if (isJsonObject(base))
    return { code: nameOf(base['status_code']), message: nameOf(base['status_msg']), body }
  if (!isJsonObject(error)) return { code: undefined, message: undefined, body }
  return { code: nameOf(error['code']) ?? nameOf(error['type']), message: nameOf(error['message']), body }
}

/** The cause that a code stands for; `unlisted` for undocumented codes. */
type Trouble = 'operator' | 'rate_limited' | 'invalid' | 'server' | 'unlisted'

/** All of them come with the HTTP status 200. */
const codes = new Map<string, Exclude<Trouble, 'unlisted'>>(
  Object.entries({
    1000: 'server',
    1001: 'server',
    1013: 'server',
    1024: 'server',
    1033: 'server',
    1002: 'rate_limited',
    1039: 'rate_limited',
    // The key is refused, and the balance of the account is used up.
    1004: 'operator',
    2049: 'operator',
    1008: 'operator',
    // The prompt is sensitive, the result is sensitive, and a parameter is wrong.
    1026: 'invalid',
    1027: 'invalid',
    2013: 'invalid',
    authentication_error: 'operator',
    permission_error: 'operator',
    insufficient_balance_error: 'operator',
    rate_limit_error: 'rate_limited',
    bad_request_error: 'invalid',
    server_error: 'server',
  } as const),
)

const SUCCESS = '0'

/** Undefined for a success. */
export function troubleOf(code: string | undefined): Trouble | undefined {
  if (code === undefined || code === SUCCESS) return undefined
  return codes.get(code) ?? 'unlisted'
}

/** A text, or a number as one; undefined for anything else. */
function nameOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined
}
