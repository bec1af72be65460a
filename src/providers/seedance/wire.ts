import type {
  MediaResult,
  PollOutcome,
  Rejection,
  SubmitCall,
  SubmitOutcome,
} from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { contentList, otherParams, unsupportedScenes, secondsOf } from '../media/inputs.ts'
import {
  UNEXPLAINED_FAILURE,
  UNEXPLAINED_REJECTION,
  isSuccess,
  isUsableId,
  statusProblem,
  reasonOf,
  unusable,
  waitOf,
} from '../media/outcomes.ts'
import { jsonParts, type Members, type SubmitBody } from '../media/request-bodies.ts'
import { linkOutput, millisecondsOf, shownText } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

/** Never sent from a row's parameters: the adapter sets them itself, or they would change the job. */
const OWN_FIELDS = new Set([
  'model',
  'content',
  'prompt',
  'duration',
  'frames',
  'callback_url',
  'execution_expires_after',
  'n',
])

/** The first models take these as commands at the end of the prompt, and have no fields for them. */
const TAKES_COMMANDS = /seedance-1-0/
const COMMAND_FIELDS = ['resolution', 'ratio', 'duration', 'seed', 'camera_fixed', 'watermark'] as const

/**
 * Models from the second version on have fields only. The name of an endpoint, `ep-…`, does not show its model, so the
 * model may read commands.
 */
const READS_NO_COMMANDS = /seedance-[2-9]/

/** The body of a submission, or why this API cannot make the job: a sentence for the client. */
export function submitBody(call: SubmitCall): SubmitBody {
  const refusal = unsupportedScenes(call)
  if (refusal !== undefined) return { refusal }
  const { aspect_ratio: ratio, ...others } = otherParams(call, OWN_FIELDS)
  const fields: Members = { ratio, ...others, duration: secondsOf(call) }
  const prompt = withoutCommands(call)
  if (!TAKES_COMMANDS.test(call.model))
    return jsonParts({ model: call.model, content: contentList({ ...call, prompt }), ...fields })
  const commands = COMMAND_FIELDS.flatMap(name => commandOf(name, fields[name]))
  const rest = Object.entries(fields).filter(
    ([name]) => !(COMMAND_FIELDS as readonly string[]).includes(name),
  )
  const content = contentList({ ...call, prompt: [prompt, ...commands].join(' ') })
  return jsonParts({ model: call.model, content, ...Object.fromEntries(rest) })
}

/**
 * The prompt with one hyphen instead of several, because each command begins with two. A command of a client could
 * change what the row fixes and what the job costs.
 */
function withoutCommands({ model, prompt }: SubmitCall): string {
  return READS_NO_COMMANDS.test(model) ? prompt : prompt.replace(/-{2,}/g, '-')
}

function commandOf(name: string, value: Members[string]): readonly string[] {
  return value === undefined || typeof value === 'object' ? [] : [`--${name.replace('_', '')} ${value}`]
}

/** The outcome of an answer to a submission. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readSubmitted(answer: MediaAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: statusProblem(answer, readArkError(body)?.code) }
  if (!isSuccess(answer)) return { outcome: 'rejected', ...rejectionOf(answer) }
  const id = findJsonObject(body)?.['id']
  if (isUsableId(id)) return { outcome: 'accepted', upstreamId: id }
  return {
    outcome: 'rejected',
    reason: 'no_id',
    status,
    message: 'The provider answered without the id of a task.',
  }
}

/** The state of a job in the answer to a poll. */
export function readTask(answer: MediaAnswer): PollOutcome {
  const task = findJsonObject(answer.body) ?? {}
  const { status: word } = task
  if (!isSuccess(answer) || typeof word !== 'string' || word === '')
    return unusable(answer, readArkError(answer.body)?.code)
  const state = stateOf[word.toLowerCase()]
  if (state === 'finished') return { outcome: 'finished', result: resultOf(task) }
  if (state === 'failed') return failureOf(task['error'])
  return { outcome: 'running', upstreamStatus: word, isKnownStatus: state === 'running' }
}

/** A task expires when the provider did not make it within the time that it sets itself. */
const stateOf: Readonly<Record<string, 'running' | 'finished' | 'failed'>> = {
  queued: 'running',
  running: 'running',
  succeeded: 'finished',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
}

function resultOf(task: Readonly<Record<string, unknown>>): MediaResult {
  const { content } = task
  const output = linkOutput(isJsonObject(content) ? content['video_url'] : undefined)
  const durationMs = durationOf(task)
  return {
    outputs: output === undefined ? [] : [output],
    isCounted: true,
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

/** A job has a duration, or a number of frames. */
function durationOf({
  duration,
  frames,
  framespersecond,
}: Readonly<Record<string, unknown>>): number | undefined {
  return millisecondsOf(duration) ?? millisecondsOf(Number(frames) / Number(framespersecond))
}

/** A failure because of the operator's account ends the job like any other. Its text is not shown to the client. */
function failureOf(value: unknown): PollOutcome {
  const error = arkErrorOf(value)
  if (error === undefined || isOperatorError(error))
    return { outcome: 'failed', message: UNEXPLAINED_FAILURE }
  const code = error.code === undefined ? {} : { code: error.code }
  return { outcome: 'failed', message: error.message ?? UNEXPLAINED_FAILURE, ...code }
}

/** The `error` of an answer, or of a job that failed. */
type ArkError = { readonly code: string | undefined; readonly message: string | undefined }

/** Undefined if the body is not JSON or has no error. */
export function readArkError(body: string): ArkError | undefined {
  return arkErrorOf(findJsonObject(body)?.['error'])
}

function arkErrorOf(error: unknown): ArkError | undefined {
  if (!isJsonObject(error)) return undefined
  const { code, message } = error
  return { code: shownText(code), message: shownText(message) }
}

/**
 * Codes about the operator's key, debts, free quota and spending limit, and about the model or endpoint that the row
 * names. More specific codes begin with one of these and a dot.
 */
const OPERATOR_CODES = new Set([
  'AuthenticationError',
  'AccountOverdueError',
  'AccessDenied',
  'OperationDenied',
  'QuotaExceeded',
  'SetLimitExceeded',
  'ModelNotOpen',
  'InvalidEndpointOrModel',
])

export function isOperatorError(error: ArkError | undefined): boolean {
  const [name = ''] = error?.code?.split('.') ?? []
  return OPERATOR_CODES.has(name)
}

/** Why a submission was not accepted. */
function rejectionOf(answer: MediaAnswer): Rejection {
  const { status, body } = answer
  const error = readArkError(body)
  return {
    reason: isOperatorError(error) ? 'operator' : reasonOf(status),
    status,
    message: error?.message ?? UNEXPLAINED_REJECTION,
    ...(error?.code === undefined ? {} : { code: error.code }),
    ...waitOf(answer),
  }
}
