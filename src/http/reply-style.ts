import type { GatewayError } from '../domain/errors.ts'
import type { StrictestRates } from '../domain/limits/admission.ts'
import { messagesErrorBody } from '../protocol/messages/errors.ts'
import { addAnthropicRateLimits, addOpenAiRateLimits } from '../protocol/rate-limit-headers.ts'
import { errorBody, type ErrorBody } from './errors.ts'

/** How the replies of a route suit the client libraries that call it. */
export type ReplyStyle = {
  /** The headers with the request id. Client libraries expect different names. */
  readonly requestIdHeaders: readonly string[]
  errorBody(error: GatewayError): ErrorBody
  /** Adds the headers with what is left of the caller's limits. */
  readonly addRateLimits: (headers: Record<string, string>, rates: StrictestRates, nowMs: number) => void
  /** The status of an error, if it differs from that of other routes. */
  statusOf?(error: GatewayError): number | undefined
}

export const plainReplies: ReplyStyle = {
  requestIdHeaders: ['x-request-id'],
  errorBody,
  addRateLimits: addOpenAiRateLimits,
}

export const messagesReplies: ReplyStyle = {
  requestIdHeaders: ['x-request-id', 'request-id'],
  errorBody: error => messagesErrorBody(errorBody(error)),
  addRateLimits: addAnthropicRateLimits,
}

/** On media routes, a model that cannot be used is a bad request. */
export const mediaReplies: ReplyStyle = {
  ...plainReplies,
  errorBody(refusal) {
    const { error, ...extensions } = errorBody(refusal)
    const isBadRequest = refusal.code === 'model_not_found'
    return { error: isBadRequest ? { ...error, type: 'invalid_request_error' } : error, ...extensions }
  },
  statusOf: ({ code }) => (code === 'model_not_found' ? 400 : undefined),
}
