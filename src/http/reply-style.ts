import type { GatewayError } from '../domain/errors.ts'
import { messagesErrorBody } from '../protocol/messages/errors.ts'
import { errorBody } from './errors.ts'

/** How the replies of a route suit the client libraries that call it. */
export type ReplyStyle = {
  /** The headers with the request id. Client libraries expect different names. */
  readonly requestIdHeaders: readonly string[]
  errorBody(error: GatewayError): object
}

export const plainReplies: ReplyStyle = { requestIdHeaders: ['x-request-id'], errorBody }

export const messagesReplies: ReplyStyle = {
  requestIdHeaders: ['x-request-id', 'request-id'],
  errorBody: error => messagesErrorBody(errorBody(error)),
}
