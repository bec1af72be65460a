import { GatewayError } from '../domain/errors.ts'
import type { Provider } from '../domain/catalog/provider.ts'
import { upstreamErrorForClient } from '../protocol/upstream-error.ts'
import type { TextJob } from './admit-text.ts'
import type { Verdict } from './judge-outcome.ts'
import type { WholeReply } from './text-call.ts'
import { upstreamSecrets } from './upstream-secrets.ts'

type Unanswered = Exclude<Verdict, { verdict: 'answer' }>

/** What the client gets of a request that ended without an answer to pay for: the upstream's refusal, or an error of ours. */
export function refuseText(
  verdict: Unanswered,
  { call, destinations }: TextJob,
  secretOf: (provider: Provider) => string | undefined,
): WholeReply {
  switch (verdict.verdict) {
    case 'refusal': {
      const { status, body, headers } = verdict.outcome
      const envelope = upstreamErrorForClient(
        body,
        headers['content-type'],
        upstreamSecrets(destinations, secretOf),
      )
      return {
        status,
        headers: { ...headers, 'content-type': 'application/json' },
        body: envelope,
        cost: null,
      }
    }
    case 'timeout':
      // The upstream may finish and bill all the same, so a repeat would be a second bill.
      throw new GatewayError('upstream_timeout', 'The model did not answer in time.', { shouldRetry: false })
    case 'aborted':
      throw new GatewayError('upstream_error', 'The request ended before the model answered.')
    case 'failure':
      call.trace.upstreamProblem = verdict.problem
      throw failureOf(verdict)
  }
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
