import type { ByteStream } from '../http1/byte-stream.ts'
import type { BodyLimits } from '../http1/server/request-body.ts'
import type { BodyText } from '../http1/server/server-request.ts'
import type { CallerSignal } from '../gateway/ports/caller-signal.ts'

/**
 * A request as handlers see it. The body can be read once. Reading it rejects with an `HttpError`, which becomes the
 * error reply: `request_too_large`, `body_timeout`, or `invalid_json` for text that is not UTF-8.
 */
export interface IncomingRequest {
  readonly method: string
  /** The path as the client sent it, with percent escapes. */
  readonly path: string
  /** The part of the target after the question mark. */
  readonly query: string
  /** The value of a header, by its name in lower case; the values of repeated headers are joined by commas. */
  header(name: string): string | null
  /** The address at the other end of the connection: the client, or a proxy. */
  readonly remoteAddress: string
  /** The length of the body; undefined if it comes in chunks. */
  readonly declaredBytes: number | undefined
  /** Aborts when the client disconnects before the end of its reply. */
  readonly signal: CallerSignal
  readonly clientDisconnected: boolean
  text(limits: BodyLimits): Promise<BodyText>
  bytes(limits: BodyLimits): Promise<Uint8Array>
  /** Holds only a small part of the body at a time. The client is read from while the handler reads. */
  stream(limits: BodyLimits): ByteStream
}
