import type { Bytes } from '../../domain/bytes.ts'
import type { GatewayError } from '../../domain/errors.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { Usage } from '../../domain/pricing/usage.ts'
import type { UpstreamError } from '../../protocol/upstream-error.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import type { FirstRequest } from '../ports/requests/replays.ts'
import type { RateLimits } from '../ports/providers/text-provider.ts'

/** The result of a text request. */
export type TextResult = CompleteAnswer | StreamedAnswer | UpstreamRefusal | TextFailure

type Answer = {
  /** The catalog name of the model. */
  readonly model: string
  /** The media type of the body. */
  readonly contentType: string
  /** The upstream's rate limits; empty for a replay, because they were reported to the first request. */
  readonly rateLimits: RateLimits
  /** The wait that the upstream asks for, in seconds or as a date. Some ask with every answer. */
  readonly retryAfter: string | undefined
  /** True for the answer of an identical earlier request. The earlier request paid for it. */
  readonly isReplay?: true
  /** That earlier request. Only of a replay. */
  readonly first?: FirstRequest
}

/** An answer that is complete: text, or the bytes of a stream that was replayed. */
export type CompleteAnswer = Answer & {
  readonly kind: 'answer'
  readonly body: string | Bytes
  /** As it was charged; null if nothing was. */
  readonly usage: Usage | null
  /** The amount charged; null if the reply does not name a cost. */
  readonly cost: NanoUsd | null
}

/** An answer that is produced while it is read. Its last bytes may name its cost. */
export type StreamedAnswer = Answer & {
  readonly kind: 'stream'
  readonly body: ByteStream
  /** Resolves when the stream has ended and was charged. Never rejects. */
  readonly ended: Promise<StreamEnding>
}

/** `isWhole` is true if the stream ended well and was read to its end. */
export type StreamEnding = { readonly isWhole: boolean }

/** The upstream's refusal of the request itself, handed on to the client. Nothing was charged. */
export type UpstreamRefusal = {
  readonly kind: 'refusal'
  /** The upstream's HTTP status. */
  readonly status: number
  /** The upstream's error, without secrets. */
  readonly error: UpstreamError
  /** The wait that the upstream asks for, in seconds or as a date. */
  readonly retryAfter: string | undefined
  readonly rateLimits: RateLimits
}

/**
 * No upstream answered. Nothing was charged. It is returned, because it is one of the results of calling the upstreams:
 * a use case throws only if it refuses the request before a call, or if the gateway itself fails. The route throws
 * `error`, because one place makes the replies of all errors.
 */
export type TextFailure = { readonly kind: 'error'; readonly error: GatewayError }
