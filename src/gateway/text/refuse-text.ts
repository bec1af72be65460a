import { GatewayError, SERVER_ERROR_MESSAGE } from '../../domain/errors.ts'
import type { UpstreamSecrets } from '../../protocol/scrub.ts'
import { readUpstreamError, type UpstreamError } from '../../protocol/upstream-error.ts'
import { isForOperator, type AttemptFailure, type AttemptResult } from '../upstreams/attempt-result.ts'
import { upstreamSecrets, type SecretOf } from '../upstreams/upstream-secrets.ts'
import type { Destination } from '../upstreams/destinations.ts'
import { passedRateLimits, type AdmittedRequest } from './admit-text.ts'
import type { TextFailure, UpstreamRefusal } from './text-result.ts'

/** The status with which Anthropic's API says that it has too many requests now. */
const OVERLOADED = 529
const TOO_LARGE = 413

/** How much of an upstream's error message is logged. */
const LOGGED_CHARS_MAX = 200

type Unanswered = {
  readonly destination: Pick<Destination, 'provider'>
  readonly result: Exclude<AttemptResult, { kind: 'answer' }>
}

/** The result for the client if no upstream answered: the upstream's refusal, or an error of the gateway. */
export function refuseText(
  admitted: AdmittedRequest,
  { destination, result }: Unanswered,
  { secretOf }: { readonly secretOf: SecretOf },
): UpstreamRefusal | TextFailure {
  const { call, dialect, destinations } = admitted
  const { record } = call
  const secrets = () => upstreamSecrets(destinations, secretOf)
  switch (result.kind) {
    case 'refusal': {
      const { status, body, contentType, retryAfter, rateLimits = [] } = result.outcome
      const error = readUpstreamError(body, contentType, secrets())
      record.upstreamProblem = `status ${status}: ${error.message.slice(0, LOGGED_CHARS_MAX)}`
      const shown = status === TOO_LARGE ? tooLargeForProvider(error, call.body.byteLength) : error
      return {
        kind: 'refusal',
        status,
        error: shown,
        retryAfter: retryAfter?.text,
        rateLimits: passedRateLimits(admitted, destination, rateLimits),
      }
    }
    case 'timeout':
      record.upstreamProblem = 'no answer in time'
      // The upstream may still finish and bill, so a retry could be billed a second time.
      return failed('upstream_timeout', 'The model did not answer in time.', { shouldRetry: false })
    case 'aborted':
      return failed('upstream_error', 'The request ended before the model answered.')
    case 'failure':
      record.upstreamProblem = loggedProblem(result, secrets)
      // On its own route, this status tells the provider's clients to wait.
      if (result.status === OVERLOADED && dialect.upstreamRoute === 'messages')
        return overloaded(result, secrets())
      return failureForClient(result)
  }
}

/**
 * The error for a request that failed unexpectedly, or could not be recorded, after an upstream may have been called. A
 * client library must not retry it by itself, because the upstream could bill a second time.
 */
export function unrepeatable(cause: unknown): GatewayError {
  if (cause instanceof GatewayError && cause.code !== 'unavailable') return cause
  if (cause instanceof GatewayError)
    return new GatewayError(
      'unavailable',
      'The gateway could not record this request, so it returns no answer. Nothing was charged.',
      { cause, shouldRetry: false },
    )
  return new GatewayError('server_error', SERVER_ERROR_MESSAGE, { cause, shouldRetry: false })
}

/** The gateway has a limit of its own, so the message says that this one is the provider's. */
function tooLargeForProvider({ message, ...error }: UpstreamError, bytes: number): UpstreamError {
  const sentence = message.endsWith('.') ? message : `${message}.`
  return {
    ...error,
    message: `The provider of the model refused this request of ${bytes} bytes as too large: ${sentence}`,
  }
}

function overloaded(
  { retryAfter, errorBody = '' }: AttemptFailure,
  secrets: UpstreamSecrets,
): UpstreamRefusal {
  const error = readUpstreamError(errorBody, undefined, secrets)
  return { kind: 'refusal', status: OVERLOADED, error, retryAfter: retryAfter?.text, rateLimits: [] }
}

function loggedProblem({ problem, errorBody }: AttemptFailure, secrets: () => UpstreamSecrets): string {
  if (errorBody === undefined) return problem
  const { message } = readUpstreamError(errorBody, undefined, secrets())
  return `${problem}: ${message.slice(0, LOGGED_CHARS_MAX)}`
}

function failureForClient({ reason, retryAfter }: AttemptFailure): TextFailure {
  if (reason === 'rate_limited') {
    const message = 'The model is rate limited at its provider. Retry after a delay.'
    return failed('rate_limited', message, retryAfter === undefined ? {} : { retryAfter: retryAfter.text })
  }
  // The upstream may bill the work that it did before it was given up.
  if (reason === 'first_byte_timeout')
    return failed('upstream_timeout', 'The model did not answer in time.', { shouldRetry: false })
  if (isForOperator(reason)) {
    const message =
      'The model is not available at its provider now. Contact support and include this request id.'
    return failed('upstream_error', message, { shouldRetry: false })
  }
  return failed('upstream_error', 'The model could not be reached, or failed to answer.')
}

function failed(...parts: ConstructorParameters<typeof GatewayError>): TextFailure {
  return { kind: 'error', error: new GatewayError(...parts) }
}
