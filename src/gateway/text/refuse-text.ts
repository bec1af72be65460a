import { GatewayError } from '../../domain/errors.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { readUpstreamError, type UpstreamError } from '../../protocol/upstream-error.ts'
import type { AdmittedRequest } from './admit-text.ts'
import type { Verdict } from '../upstreams/attempt-result.ts'
import { addFailure, type WholeReply } from './text-call.ts'
import { upstreamSecrets } from './upstream-secrets.ts'

/** Of what an upstream said, so much is logged. */
const SAID_CHARS_MAX = 200

type Unanswered = Exclude<Verdict, { verdict: 'answer' }>

/** What the client gets of a request that ended without an answer to pay for: the upstream's refusal, or an error of ours. */
export function refuseText(
  verdict: Unanswered,
  { call, dialect, destinations }: AdmittedRequest,
  secretOf: (provider: Provider) => string | undefined,
): WholeReply {
  const { trace } = call
  switch (verdict.verdict) {
    case 'refusal': {
      const { status, body, headers, rateLimits = '' } = verdict.outcome
      const error = readUpstreamError(body, headers['content-type'], upstreamSecrets(destinations, secretOf))
      trace.upstreamProblem = problemWith(`status ${status}`, error)
      const envelope = JSON.stringify({ error })
      return {
        status,
        headers: { ...headers, 'content-type': 'application/json' },
        rateLimits,
        body: dialect.refusalOf?.(envelope) ?? envelope,
        cost: null,
      }
    }
    case 'timeout':
      trace.upstreamProblem = 'no answer in time'
      addFailure(trace, 'timeout')
      // The upstream may finish and bill all the same, so a repeat would be a second bill.
      throw new GatewayError('upstream_timeout', 'The model did not answer in time.', { shouldRetry: false })
    case 'aborted':
      throw new GatewayError('upstream_error', 'The request ended before the model answered.')
    case 'failure': {
      const { problem, reason, said } = verdict
      trace.upstreamProblem =
        said === undefined
          ? problem
          : problemWith(problem, readUpstreamError(said, undefined, upstreamSecrets(destinations, secretOf)))
      addFailure(trace, reason)
      throw failureOf(verdict)
    }
  }
}

/** For the log: what happened, and what the upstream said of it. */
function problemWith(problem: string, { message }: UpstreamError): string {
  return `${problem}: ${message.slice(0, SAID_CHARS_MAX)}`
}

function failureOf({ reason, retryAfterS }: Extract<Verdict, { verdict: 'failure' }>): GatewayError {
  if (reason === 'rate_limited') {
    const message = 'The model is rate limited at its provider. Retry after a delay.'
    return new GatewayError('rate_limited', message, retryAfterS === undefined ? {} : { retryAfterS })
  }
  if (reason === 'unpaid' || reason === 'not_offered') {
    const message = 'The model is not available at its provider for now. The operator has to look at it.'
    return new GatewayError('upstream_error', message, { shouldRetry: false })
  }
  return new GatewayError('upstream_error', 'The model could not be reached, or failed to answer.')
}
