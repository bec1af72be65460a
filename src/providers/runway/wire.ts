import type { Provider } from '../../domain/catalog/provider.ts'
import type { MediaOutput, PollOutcome, SubmitOutcome } from '../../gateway/ports/providers/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import {
  isUsableId,
  reasonOf,
  waitOf,
  failedJob,
  isOperatorText,
  isSuccess,
  statusProblem,
  UNEXPLAINED_FAILURE,
  unusable,
  type FailedJob,
} from '../media/outcomes.ts'
import { costOfCredits, linkOutput } from '../media/result-values.ts'
import type { MediaAnswer } from '../media/media-http.ts'

/** The outcome of an answer to a create. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readCreated(answer: MediaAnswer): SubmitOutcome {
  const { status, body } = answer
  if (status >= 500) return { outcome: 'unknown', problem: statusProblem(answer) }
  if (!isSuccess(answer)) {
    const message = messageOf(answer)
    return { outcome: 'rejected', reason: reasonFor(status, message), status, message, ...waitOf(answer) }
  }
  const id = findJsonObject(body)?.['id']
  if (!isUsableId(id))
    return { outcome: 'rejected', reason: 'no_id', status, message: 'The answer names no task.' }
  return { outcome: 'accepted', upstreamId: id }
}

/** An operator's account without credit gets the status 400 without a code. */
function reasonFor(status: number, message: string): ReturnType<typeof reasonOf> {
  return status === 400 && isOperatorText(message) ? 'operator' : reasonOf(status)
}

const ISSUES_MAX = 5

/** The error's text, and which fields it is about. */
function messageOf({ body, contentType }: MediaAnswer): string {
  const { message } = readUpstreamError(body, contentType)
  const issues = findJsonObject(body)?.['issues']
  const texts = (Array.isArray(issues) ? issues : []).slice(0, ISSUES_MAX).flatMap(issue => {
    const { path, message: text } = isJsonObject(issue) ? issue : {}
    if (typeof text !== 'string' || text === '') return []
    return Array.isArray(path) && path.length > 0 ? [`${path.join('.')}: ${text}`] : [text]
  })
  return texts.length === 0 ? message : `${message}: ${texts.join('; ')}`
}

/** The path of a task. */
export function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`
}

/** The state of a job in the answer to a query. The API bills some failed tasks and states their cost in credits. */
export function readTask(answer: MediaAnswer, provider: Pick<Provider, 'creditUsd'>): PollOutcome {
  const task = isSuccess(answer) ? findJsonObject(answer.body) : undefined
  const status = task?.['status']
  if (task === undefined || typeof status !== 'string' || status === '') return unusable(answer)
  const cost = costOfCredits(isJsonObject(task['cost']) ? task['cost']['credits'] : undefined, provider)
  switch (status) {
    case 'PENDING':
    case 'THROTTLED':
    case 'RUNNING':
      return { outcome: 'running', upstreamStatus: status, isKnownStatus: true }
    case 'SUCCEEDED':
      return { outcome: 'finished', result: { outputs: outputsOf(task), isCounted: true, ...cost } }
    case 'FAILED':
      return { ...failureOf(task), ...cost }
    case 'CANCELLED':
      return { outcome: 'failed', code: status, message: 'The provider cancelled the task.', ...cost }
    default:
      return { outcome: 'running', upstreamStatus: status, isKnownStatus: false }
  }
}

type Task = Readonly<Record<string, unknown>>

function outputsOf({ output }: Task): readonly MediaOutput[] {
  return (Array.isArray(output) ? output : []).flatMap(url => linkOutput(url) ?? [])
}

/** The code is a path of words, the most general one first: `SAFETY.INPUT.TEXT`. */
function failureOf({ failure, failureCode: code }: Task): FailedJob {
  const message = typeof failure === 'string' && failure !== '' ? failure : UNEXPLAINED_FAILURE
  return failedJob(message, typeof code === 'string' && code !== '' ? code : undefined)
}
