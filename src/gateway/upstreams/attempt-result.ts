import type { TextAnswer, TextDialect, UsageLimits } from '../../protocol/text-dialect.ts'
import type { LateCall, ProviderOutcome, RetryAfter } from '../ports/providers/text-provider.ts'
import type { Destination } from './destinations.ts'
import type { HealthSignal } from './upstream-health.ts'

type Answered = Extract<ProviderOutcome, { outcome: 'answered' }>

/** What one call to an upstream means for its request. `status` is the upstream's HTTP status, if it arrived. */
export type AttemptResult =
  /** An answer of the route. It is charged and handed over. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly answer: TextAnswer
      readonly outcome: Answered
    }
  /**
   * The upstream refused the request itself. The refusal is handed on with its status, and no other upstream is called.
   */
  | { readonly kind: 'refusal'; readonly status: number; readonly outcome: Answered }
  /** This upstream cannot answer. Another one might. */
  | AttemptFailure
  /** The time limit passed. No other upstream is called, because this one may still finish and bill. */
  | { readonly kind: 'timeout'; readonly status?: number; readonly late?: LateCall }
  /** The client disconnected. */
  | { readonly kind: 'aborted'; readonly status?: number }

export type UpstreamFailureReason =
  | 'rate_limited'
  | 'unpaid'
  | 'not_offered'
  | 'unreachable'
  | 'not_configured'
  | 'server'
  | 'no_answer'
  | 'first_byte_timeout'
  | 'timeout'
  | 'broken_stream'
  | 'idle_stream'

export type AttemptFailure = {
  readonly kind: 'failure'
  readonly status?: number
  readonly reason: Exclude<UpstreamFailureReason, 'timeout' | 'broken_stream' | 'idle_stream'>
  readonly retryAfter?: RetryAfter
  readonly problem: string
  /** The body of the upstream's error. It may contain hosts and keys. */
  readonly errorBody?: string
}

/**
 * One call to one upstream and how it ended, with the usage if it answered. Failover and settlement work on these
 * values.
 */
export type AttemptRecord<Result = AttemptResult> = {
  readonly destination: Destination
  /** Its place among the attempts of its request, from 1. */
  readonly number: number
  readonly result: Result
}

/**
 * Statuses that concern the operator and never the client. 401 and 402 concern the operator's key and credit, which
 * every request would meet. 403 and 404 concern this model or this content.
 */
const operatorReasons: Readonly<Record<number, AttemptFailure['reason']>> = {
  401: 'unpaid',
  402: 'unpaid',
  403: 'not_offered',
  404: 'not_offered',
}

/** Classifies an outcome. It is pure, so that a test can check the table of docs/settlement.md. */
export function attemptResult(
  outcome: ProviderOutcome,
  dialect: TextDialect,
  limits: UsageLimits,
): AttemptResult {
  switch (outcome.outcome) {
    case 'answered':
      return answeredResult(outcome, dialect, limits)
    case 'unreachable':
    case 'not_configured':
      return { kind: 'failure', reason: outcome.outcome, problem: outcome.reason }
    case 'timed_out':
      return outcome.late === undefined ? { kind: 'timeout' } : { kind: 'timeout', late: outcome.late }
    case 'aborted':
      return { kind: 'aborted' }
  }
}

function answeredResult(outcome: Answered, dialect: TextDialect, limits: UsageLimits): AttemptResult {
  const { status } = outcome
  if (status >= 200 && status < 300) {
    const answer = dialect.readAnswer(outcome.body, limits)
    if (answer !== undefined) return { kind: 'answer', status, answer, outcome }
    return failure(outcome, 'no_answer', `a ${status} whose body is not an answer of this route`)
  }
  const operatorReason = operatorReasons[status]
  if (operatorReason !== undefined) return failure(outcome, operatorReason, `status ${status}`)
  if (status === 429) return failure(outcome, 'rate_limited', 'status 429')
  if (status >= 400 && status < 500) return { kind: 'refusal', status, outcome }
  return failure(outcome, 'server', `status ${status}`)
}

function failure(
  { status, retryAfter, body }: Answered,
  reason: AttemptFailure['reason'],
  problem: string,
): AttemptFailure {
  return {
    kind: 'failure',
    status,
    reason,
    problem,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(status < 400 ? {} : { errorBody: body }),
  }
}

/** The result of a call: of a request for JSON, or of one for a stream that was opened. */
export type CallResult = AttemptResult | { readonly kind: 'stream'; readonly status: number }

/** Whether to call the next upstream: this one failed or gave an empty answer. */
export function shouldFailOver(result: CallResult): boolean {
  return result.kind === 'failure' || isEmptyAnswer(result)
}

/** Whether a stream was given up because its first byte did not come in time. Its upstream may bill what it did. */
export function wasGivenUp(result: CallResult): boolean {
  return result.kind === 'failure' && result.reason === 'first_byte_timeout'
}

/**
 * What a result says about the health of its upstream. `now` is wall time, because a wait can end at a date. Only a
 * failure reads it.
 */
export function healthSignal(result: CallResult, now: () => number): HealthSignal {
  switch (result.kind) {
    case 'answer':
    case 'stream':
    case 'refusal':
      return { signal: 'healthy' }
    case 'failure':
      // It concerns this model or this request. The upstream is up and may serve others.
      if (result.reason === 'not_offered') return { signal: 'none' }
      return { signal: 'unhealthy', retryAfterMs: retryAfterMs(result.retryAfter, now()) }
    case 'timeout':
    case 'aborted':
      return { signal: 'none' }
  }
}

/**
 * Selects the attempt whose result the client gets, from a request's attempts in their order. An empty answer is better
 * than no answer. Among failures a rate limit comes first, because it says when a retry can help, and among rate limits
 * the one that ends first. Then come failures that a retry may avoid, and last those that only the operator can fix.
 * Between equal results, the later attempt wins.
 */
export function selectResult<Candidate extends { readonly result: CallResult }>(
  attempts: readonly Candidate[],
  nowMs: number,
): Candidate {
  return attempts.reduce((best, next) => (isBetter(best.result, next.result, nowMs) ? best : next))
}

/** Whether the earlier result is better than the later one. */
function isBetter(earlier: CallResult, later: CallResult, nowMs: number): boolean {
  const difference = rank(earlier) - rank(later)
  return difference === 0 ? waitMs(earlier, nowMs) < waitMs(later, nowMs) : difference > 0
}

function rank(result: CallResult): number {
  switch (result.kind) {
    case 'stream':
      return 6
    case 'answer':
      return isEmptyAnswer(result) ? 4 : 6
    case 'aborted':
      // The client has disconnected, so an empty answer must not be charged.
      return 5
    case 'refusal':
    case 'timeout':
      return 3
    case 'failure':
      if (result.reason === 'rate_limited') return 2
      return isForOperator(result.reason) ? 0 : 1
  }
}

/** How long the client should wait before a retry; infinite if a rate limit does not say. */
function waitMs(result: CallResult, nowMs: number): number {
  if (result.kind !== 'failure' || result.reason !== 'rate_limited') return 0
  return retryAfterMs(result.retryAfter, nowMs) ?? Infinity
}

/** Whether only the operator can fix a failure, so that a retry cannot help. */
export function isForOperator(reason: AttemptFailure['reason']): boolean {
  return reason === 'unpaid' || reason === 'not_offered' || reason === 'not_configured'
}

function isEmptyAnswer(result: CallResult): boolean {
  return result.kind === 'answer' && result.answer.isEmpty
}

/** The wait that an upstream asks for, from `nowMs` in wall time. Undefined if it asks for none that can be read. */
export function retryAfterMs(retryAfter: RetryAfter | undefined, nowMs: number): number | undefined {
  if (retryAfter?.untilMs === undefined) return retryAfter?.delayMs
  return Math.max(0, retryAfter.untilMs - nowMs)
}
