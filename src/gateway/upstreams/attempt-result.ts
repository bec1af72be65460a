import type { TextAnswer, TextDialect, UsageLimits } from '../../protocol/text-dialect.ts'
import type { LateCall, ProviderOutcome } from '../ports/text-provider.ts'

type Answered = Extract<ProviderOutcome, { outcome: 'answered' }>

/** What an attempt's outcome means for the request. */
export type Verdict =
  /** An answer of the route: charged and handed over. */
  | { readonly verdict: 'answer'; readonly answer: TextAnswer; readonly outcome: Answered }
  /** The client's own mistake, as the upstream sees it: handed on with its status. No other upstream is asked. */
  | { readonly verdict: 'refusal'; readonly outcome: Answered }
  /** This upstream cannot answer, and another might. */
  | {
      readonly verdict: 'failure'
      readonly reason: 'rate_limited' | 'unpaid' | 'not_offered' | 'unreachable' | 'server' | 'no_answer'
      readonly retryAfterS: string | undefined
      readonly problem: string
      /** What the upstream said of it, as it said it: it may name hosts and keys. */
      readonly said?: string
    }
  /** It had its time. No other upstream is asked: this one may yet finish, and bill. */
  | { readonly verdict: 'timeout'; readonly late?: LateCall }
  /** Nobody waits for the answer any more. */
  | { readonly verdict: 'aborted' }

/**
 * Statuses by which an upstream speaks to the operator, never to the client: of the operator's key and credit, which every request
 * would meet, or of this one model or content.
 */
const operatorReasons = { 401: 'unpaid', 402: 'unpaid', 403: 'not_offered', 404: 'not_offered' } as const

/** Reads an outcome. Pure, so that the table of docs/settlement.md can be walked by a test. */
export function attemptResult(outcome: ProviderOutcome, dialect: TextDialect, limits: UsageLimits): Verdict {
  switch (outcome.outcome) {
    case 'answered':
      return judgeAnswer(outcome, dialect, limits)
    case 'unreachable':
      return { verdict: 'failure', reason: 'unreachable', retryAfterS: undefined, problem: outcome.reason }
    case 'timed_out':
      return outcome.late === undefined ? { verdict: 'timeout' } : { verdict: 'timeout', late: outcome.late }
    case 'aborted':
      return { verdict: 'aborted' }
  }
}

function judgeAnswer(outcome: Answered, dialect: TextDialect, limits: UsageLimits): Verdict {
  const { status, headers } = outcome
  const retryAfterS = headers['retry-after']
  const failure = (reason: Extract<Verdict, { verdict: 'failure' }>['reason'], problem: string) =>
    ({
      verdict: 'failure',
      reason,
      retryAfterS,
      problem,
      ...(status < 400 ? {} : { said: outcome.body }),
    }) as const
  if (status >= 200 && status < 300) {
    const answer = dialect.readAnswer(outcome.body, limits)
    if (answer === undefined) return failure('no_answer', `a ${status} that is no answer of this route`)
    return { verdict: 'answer', answer, outcome }
  }
  if (status === 429) return failure('rate_limited', 'status 429')
  if (status in operatorReasons)
    return failure(operatorReasons[status as keyof typeof operatorReasons], `status ${status}`)
  if (status >= 400 && status < 500) return { verdict: 'refusal', outcome }
  return failure('server', `status ${status}`)
}
