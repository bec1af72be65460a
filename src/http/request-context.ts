import type { Id } from '../domain/ids.ts'
import type { NanoUsd } from '../domain/money.ts'
import type { ByteStream } from '../gateway/ports/byte-stream.ts'
import type { TextTrace } from '../gateway/text/text-call.ts'
import type { IncomingRequest } from './incoming-request.ts'

/** What a route handler knows of its request before reading it. */
export type RequestContext = {
  readonly request: IncomingRequest
  readonly id: Id
  /** `req_…`, as sent in `x-request-id`. */
  readonly requestId: string
  /** Filled in on the way; logged and counted once, when the reply is ready. */
  readonly trace: RequestTrace
}

export type RequestTrace = TextTrace & {
  accountId?: string
  apiKeyId?: string
  errorCode?: string
  /** What was thrown, where it was a bug or an outage rather than a GatewayError. */
  failure?: unknown
}

/** An answer before the edge adds what every reply carries; one that says nothing of its body's type is JSON. */
export type Reply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** More lines of the head, each with its end, as they were read from another's. */
  readonly rateLimits?: string
  /** A stream is read piece by piece, as the client takes them, and cancelled when it leaves. */
  readonly body: Uint8Array<ArrayBuffer> | string | ByteStream | null
  /** For a stream: resolves when it is over. The request is logged and counted then. */
  readonly ended?: Promise<unknown>
  /** For the header that names what was charged; without it, or with null, there is none. */
  readonly cost?: NanoUsd | null
  /** For the header that says that an identical request was answered so before. */
  readonly isReplay?: true
}

export function isStream(body: Reply['body']): body is ByteStream {
  return body !== null && typeof body === 'object' && 'cancel' in body
}

/** A reply that is not made as it is read. */
export type WholeReply = Reply & { readonly body: Exclude<Reply['body'], ByteStream> }

export type Handler = (context: RequestContext) => Reply | Promise<Reply>

export function jsonReply(status: number, value: unknown, headers: Record<string, string> = {}): WholeReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}
