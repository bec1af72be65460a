import type { Provider } from '../../domain/catalog/provider.ts'
import type { JoinedBody } from './request-bodies.ts'

/** One request to a provider of images or videos. */
export type WholeRequest = {
  readonly provider: Provider
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Headers
  /** Text goes in UTF-8. */
  readonly body?: string | JoinedBody
  /** From the call to the end of the answer. */
  readonly timeoutMs: number
}

export type WholeAnswer = {
  readonly status: number
  /** The media type of the body. Absent if the provider names none. */
  readonly contentType?: string | undefined
  /** As text. It is not JSON if the bytes are not text. */
  readonly body: string
  readonly retryAfterS?: number
}

export type WholeReply =
  | ({ readonly reply: 'answer' } & WholeAnswer)
  /**
   * No complete answer arrived. `isSent` is false if the server cannot have seen any of the request. The problem has no
   * secrets.
   */
  | { readonly reply: 'none'; readonly isSent: boolean; readonly problem: string }

/** Sends one request, once, and reads the whole answer. Never rejects. */
export type SendWhole = (request: WholeRequest) => Promise<WholeReply>
