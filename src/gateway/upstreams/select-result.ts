import type { AttemptFailure, AttemptResult } from './attempt-result.ts'
import type { HealthSignal } from './circuit-breakers.ts'
import { retryAfterMs } from './retry-after.ts'

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

/** What a result says about the health of its upstream. `nowMs` is wall time, because a wait can end at a date. */
export function healthSignal(result: CallResult, nowMs: number): HealthSignal {
  switch (result.kind) {
    case 'answer':
    case 'stream':
    case 'refusal':
      return { signal: 'healthy' }
    case 'failure':
      // It concerns this model or this request. The upstream is up and may serve others.
      if (result.reason === 'not_offered') return { signal: 'none' }
      return { signal: 'unhealthy', retryAfterMs: retryAfterMs(result.retryAfter, nowMs) }
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
