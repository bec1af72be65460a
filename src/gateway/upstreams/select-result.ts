import type { Verdict } from './attempt-result.ts'
import type { Effect } from './circuit-breakers.ts'
import { retryAfterMs } from './retry-after.ts'

/** What one attempt can come to: a whole answer or an opened stream, or what kept it from that. */
export type CallResult = Verdict | { readonly verdict: 'stream' }

/** Whether to ask the next upstream: this one failed, or answered with nothing. */
export function shouldFailOver(verdict: CallResult): boolean {
  return verdict.verdict === 'failure' || isEmptyAnswer(verdict)
}

/** What an attempt shows of its upstream, whatever it means for the request. */
export function healthSignal(verdict: CallResult, nowMs: number): Effect {
  switch (verdict.verdict) {
    case 'answer':
    case 'stream':
    case 'refusal':
      return { effect: 'works' }
    case 'failure':
      // Of this one model or request; the upstream is up, and others may be welcome.
      if (verdict.reason === 'not_offered') return { effect: 'none' }
      return { effect: 'fails', retryAfterMs: retryAfterMs(verdict.retryAfterS, nowMs) }
    case 'timeout':
    case 'aborted':
      return { effect: 'none' }
  }
}

/**
 * Which of a request's verdicts, in the order of its attempts, its client gets. An empty answer is better than none. Of failures,
 * a rate limit: it alone says when a repeat can help; of several the one that is over first. Then one that a repeat may not meet
 * again; last, what only the operator can mend. The later one of equals.
 */
export function selectResult<V extends { readonly verdict: CallResult }>(
  verdicts: readonly V[],
  nowMs: number,
): V {
  return verdicts.reduce((best, next) => (isBetter(best.verdict, next.verdict, nowMs) ? best : next))
}

/** Whether the earlier one is the more useful. */
function isBetter(earlier: CallResult, later: CallResult, nowMs: number): boolean {
  const difference = usefulness(earlier) - usefulness(later)
  return difference === 0 ? waitMs(earlier, nowMs) < waitMs(later, nowMs) : difference > 0
}

function usefulness(verdict: CallResult): number {
  switch (verdict.verdict) {
    case 'stream':
      return 6
    case 'answer':
      return isEmptyAnswer(verdict) ? 4 : 6
    case 'aborted':
      // Nobody is there to take an empty answer.
      return 5
    case 'refusal':
    case 'timeout':
      return 3
    case 'failure':
      if (verdict.reason === 'rate_limited') return 2
      return verdict.reason === 'unpaid' || verdict.reason === 'not_offered' ? 0 : 1
  }
}

/** How long a client is to wait; for ever where nobody says. */
function waitMs(verdict: CallResult, nowMs: number): number {
  if (verdict.verdict !== 'failure' || verdict.reason !== 'rate_limited') return 0
  return retryAfterMs(verdict.retryAfterS, nowMs) ?? Infinity
}

function isEmptyAnswer(verdict: CallResult): boolean {
  return verdict.verdict === 'answer' && verdict.answer.isEmpty
}
