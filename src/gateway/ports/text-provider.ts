import type { Provider, TextRoute } from '../../domain/catalog/provider.ts'
import type { ByteStream } from './byte-stream.ts'
import type { CallerSignal } from './caller-signal.ts'

/** A kind of provider that serves text routes, such as `openai-compatible` or the sandbox. */
export interface TextProvider {
  /**
   * Sends one request and reads the whole answer. Never throws for what an upstream or the network does; each way it can
   * end is an outcome. Never repeats the request. `signal` aborts it, and then the outcome is `aborted`; one that has timed out
   * goes on without it.
   */
  complete(call: ProviderCall, signal?: CallerSignal): Promise<ProviderOutcome>

  /**
   * Sends one request for a streamed answer and waits for its headers. Like `complete`, it never throws for what an upstream
   * does and never repeats the request. An opened stream must be read to its end or cancelled; `signal` aborts it too.
   */
  stream(call: StreamCall, signal?: CallerSignal): Promise<StreamOutcome>
}

export type ProviderCall = {
  readonly provider: Provider
  readonly route: TextRoute
  /** The upstream's own model name, as it stands in `body`. */
  readonly model: string
  /** Sent as it is, in UTF-8. */
  readonly body: string
  readonly readTimeoutMs: number
  /** How long a call that has timed out may go on, as `late` of its outcome. Absent where it ends there. */
  readonly lateMs?: number
}

export type ProviderOutcome =
  /** A whole HTTP answer, of any status. */
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** Only those that are looked at here: `content-type` and `retry-after`. */
      readonly headers: Readonly<Record<string, string>>
      readonly rateLimits?: RateLimits
      /** The value of the provider's cost header. */
      readonly reportedCost: string | null
      /** As text; `NOT_UTF8` where it is none, and so no answer of any route. */
      readonly body: string
    }
  /** DNS, TLS, refused, reset, or cut before the answer was whole. */
  | { readonly outcome: 'unreachable'; readonly reason: string }
  /** Nothing whole came in time. `late` is the call where it goes on all the same. */
  | { readonly outcome: 'timed_out'; readonly late?: LateCall }
  | { readonly outcome: 'aborted' }

/** The upstream's `x-ratelimit-*` headers as names in lower case and values, in their order. They are handed on to the client. */
export type RateLimits = readonly (readonly [name: string, value: string])[]

/** Stands for a body that is not UTF-8. */
export const NOT_UTF8 = '\uFFFD'

/** A call that goes on although its time is over: the upstream may yet finish, and bill. */
export type LateCall = {
  /** How it ends after all; `timed_out` where it does not, within `lateMs`. Never rejects. */
  readonly outcome: Promise<ProviderOutcome>
  /** Ends it at once, and its outcome is `aborted`. After its end, or repeated, it changes nothing. */
  abandon(): void
}

export type StreamCall = Omit<ProviderCall, 'readTimeoutMs' | 'lateMs'> & {
  /** From the start of the call to the answer's headers. */
  readonly firstByteTimeoutMs: number
  /** From the headers, or from one byte, to the next, while the caller waits for it. */
  readonly idleTimeoutMs: number
}

export type StreamOutcome =
  /** A success whose body comes in pieces. */
  | {
      readonly outcome: 'opened'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly rateLimits?: RateLimits
      readonly reportedCost: string | null
      readonly body: UpstreamStream
    }
  /** Whatever else `complete` can end with: an error status, or a success in JSON or HTML, is read whole and `answered`. */
  | ProviderOutcome

/**
 * The body of a streamed answer. It asks the network for more only while a read waits, so a slow reader slows the upstream. If
 * the connection breaks, bytes that had arrived and were not read are lost.
 */
export interface UpstreamStream extends ByteStream {
  /** How the stream ended; set once `read()` has given undefined. */
  readonly end: StreamEnd | undefined
}

export type StreamEnd =
  /** The body came to its end. One that ends with its connection looks the same: only the content tells whether it is whole. */
  | { readonly end: 'ended' }
  /** Reset, or cut before the body was whole. */
  | { readonly end: 'broken'; readonly reason: string }
  /** Nothing came for `idleTimeoutMs`. */
  | { readonly end: 'idle' }
  | { readonly end: 'aborted' }
