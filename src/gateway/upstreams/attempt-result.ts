import type { TextAnswer, TextDialect, UsageLimits } from '../../protocol/text-dialect.ts'
import type { LateCall, ProviderOutcome, RetryAfter } from '../ports/text-provider.ts'
import type { UpstreamFailureReason } from '../text/text-trace.ts'

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
