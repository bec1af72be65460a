import type { MediaOutput, PollOutcome, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import { findJsonObject, isJsonObject } from '../../protocol/json/parse-json.ts'
import { readUpstreamError } from '../../protocol/upstream-error.ts'
import type { WholeAnswer } from '../media/send-whole.ts'

/** What the answer to a create means. A 5xx is always unknown, and a 4xx is always a rejection. */
export function readCreated(answer: WholeAnswer): SubmitOutcome {
  const { status, body, retryAfterS } = answer
  if (status >= 500) return { outcome: 'unknown', problem: `status ${status}` }
  if (!isSuccess(answer)) {
    const message = messageOf(answer)
    const wait = retryAfterS === undefined ? {} : { retryAfterS }
    return { outcome: 'rejected', reason: reasonOf(status, message), status, message, ...wait }
  }
  const id = findJsonObject(body)?.['id']
  if (typeof id !== 'string' || !isUsableId(id))
    return { outcome: 'rejected', reason: 'no_id', status, message: 'The answer names no task.' }
  return { outcome: 'accepted', upstreamId: id }
}

/** The operator's account has no credit. The API says this with the status 400, and has no code for it. */
const NO_CREDIT = /\b(?:not|out of|no)\b.{0,40}\bcredits?\b/i

function reasonOf(status: number, message: string): 'operator' | 'rate_limited' | 'invalid' {
  if (status === 401 || status === 402 || status === 403) return 'operator'
  if (status === 429) return 'rate_limited'
  // A redirect comes from a base URL that is not the provider's, and is never followed.
  if (status < 400) return 'operator'
  return NO_CREDIT.test(message) ? 'operator' : 'invalid'
}

const ISSUES_MAX = 5

/** The error's text, and which fields it is about. */
function messageOf({ body, headers }: WholeAnswer): string {
  const { message } = readUpstreamError(body, headers['content-type'])
  const issues = findJsonObject(body)?.['issues']
  const texts = (Array.isArray(issues) ? issues : []).slice(0, ISSUES_MAX).flatMap(issue => {
    const { path, message: text } = isJsonObject(issue) ? issue : {}
    if (typeof text !== 'string' || text === '') return []
    return Array.isArray(path) && path.length > 0 ? [`${path.join('.')}: ${text}`] : [text]
  })
  return texts.length === 0 ? message : `${message}: ${texts.join('; ')}`
}

/** False for an id that no path can name. */
function isUsableId(id: string): boolean {
  return id.isWellFormed() && !/^\.{0,2}$/.test(id)
}

/** The path of a task. */
export function pathOf(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`
}

/** The state of a job in the answer to a query. */
export function readTask(answer: WholeAnswer): PollOutcome {
  const task = isSuccess(answer) ? findJsonObject(answer.body) : undefined
  const status = task?.['status']
  if (task === undefined || typeof status !== 'string' || status === '') return unavailable(answer)
  switch (status) {
    case 'PENDING':
    case 'THROTTLED':
    case 'RUNNING':
      return { outcome: 'running', upstreamStatus: status, isKnownStatus: true }
    case 'SUCCEEDED':
      return { outcome: 'finished', result: { outputs: outputsOf(task), isCounted: true } }
    case 'FAILED':
      return failureOf(task)
    case 'CANCELLED':
      return { outcome: 'failed', code: status, message: 'The provider cancelled the task.' }
    default:
      return { outcome: 'running', upstreamStatus: status, isKnownStatus: false }
  }
}

type Task = Readonly<Record<string, unknown>>

function outputsOf({ output }: Task): readonly MediaOutput[] {
  return (Array.isArray(output) ? output : []).flatMap(url =>
    typeof url === 'string' && url !== '' ? [{ from: 'url', url } as const] : [],
  )
}

/** The code is a path of words, the most general one first: `SAFETY.INPUT.TEXT`. */
function failureOf({ failure, failureCode: code }: Task): PollOutcome {
  const message =
    typeof failure === 'string' && failure !== ''
      ? failure
      : 'The provider could not make the result and did not say why.'
  return { outcome: 'failed', message, ...(typeof code === 'string' && code !== '' ? { code } : {}) }
}

function isSuccess({ status }: WholeAnswer): boolean {
  return status >= 200 && status <= 299
}

function unavailable({ status, retryAfterS }: WholeAnswer): PollOutcome {
  const wait = retryAfterS === undefined ? {} : { retryAfterS }
  return { outcome: 'unavailable', problem: `status ${status}`, ...wait }
}
