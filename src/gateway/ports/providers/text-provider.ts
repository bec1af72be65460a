import type { Provider, TextRoute } from '../../../domain/catalog/provider.ts'
import type { ByteStream } from '../byte-stream.ts'
import type { CallerSignal } from '../caller-signal.ts'

/** A kind of provider that serves text routes, such as `openai-compatible` or the sandbox. */
export interface TextProvider {
  /**
   * Sends one request and reads the whole answer. It never rejects for an error of the upstream or the network: each
   * way in which it can end is an outcome. It never repeats the request. `signal` cancels the call, and then the
   * outcome is `aborted`. After a timeout, `signal` has no effect.
   */
  complete(call: ProviderCall, signal?: CallerSignal): Promise<ProviderOutcome>

  /**
   * Sends one request for a stream and waits for the head of the answer. Like `complete`, it never rejects for an error
   * of the upstream and never repeats the request. An opened stream must be read to its end or cancelled; `signal`
   * cancels it too.
   */
  stream(call: StreamCall, signal?: CallerSignal): Promise<StreamOutcome>
}

export type ProviderCall = {
  readonly provider: Provider
  readonly route: TextRoute
  /** The upstream's own model name, as in `body`. */
  readonly model: string
  /** Sent unchanged, in UTF-8. */
  readonly body: string
  /** The client's version headers for the body. Only upstreams of the messages route need it. */
  readonly apiVersion?: ApiVersion | undefined
  readonly readTimeoutMs: number
  /**
   * How long a call may continue after its timeout, as `late` of its outcome. Without it, the call ends at its timeout.
   */
  readonly lateMs?: number
}

/** The headers of a messages request that say how its body is to be read; null for an absent one. */
export type ApiVersion = {
  /** `anthropic-version` */
  readonly version: string | null
  /** `anthropic-beta`: a list with commas. */
  readonly betas: string | null
}

export type ProviderOutcome =
  /** A complete answer with any HTTP status. */
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** The media type of the body. Absent if the upstream names none. */
      readonly contentType?: string | undefined
      readonly retryAfter?: RetryAfter | undefined
      readonly rateLimits?: RateLimits
      /** The value of the provider's cost header. */
      readonly reportedCost: string | null
      /** The text of the body; `NOT_UTF8` if it is not UTF-8, which is not an answer of any route. */
      readonly body: string
    }
  /** DNS, TLS or the connection failed, or the connection was closed before the answer was complete. */
  | { readonly outcome: 'unreachable'; readonly reason: string }
  /**
   * Nothing was sent, because of the operator's settings: the variable of the provider's key is not set, for example.
   */
  | { readonly outcome: 'not_configured'; readonly reason: string }
  /** No complete answer arrived in time. `late` is the call if it continues. */
  | { readonly outcome: 'timed_out'; readonly late?: LateCall }
  | { readonly outcome: 'aborted' }

/**
 * The upstream's `x-ratelimit-*` headers in their order, with names in lower case. They are passed on to the client.
 */
export type RateLimits = readonly (readonly [name: string, value: string])[]

/** How long an upstream asks its clients to wait before they repeat a request. The text is passed on to the client. */
export type RetryAfter =
  /** A number of seconds: the wait. */
  | { readonly text: string; readonly delayMs: number; readonly untilMs?: never }
  /** A date: the end of the wait in wall time. */
  | { readonly text: string; readonly untilMs: number; readonly delayMs?: never }
  /** Neither a number of seconds nor a date. */
  | { readonly text: string; readonly delayMs?: never; readonly untilMs?: never }

/** The body of an answer that is not UTF-8. */
export const NOT_UTF8 = '\uFFFD'

/** A call that continues after its timeout, because the upstream may still finish and bill. */
export type LateCall = {
  /** How the call ends; `timed_out` if it does not end within `lateMs`. Never rejects. */
  readonly outcome: Promise<ProviderOutcome>
  /** Cancels the call, and its outcome is `aborted`. After its end, or repeated, it changes nothing. */
  abandon(): void
}

export type StreamCall = Omit<ProviderCall, 'readTimeoutMs' | 'lateMs'> & {
  /** From the start of the call to the head of the answer. */
  readonly readTimeoutMs: number
  /** The longest pause after the head, counted only while the caller waits for bytes. */
  readonly idleTimeoutMs: number
}

export type StreamOutcome =
  /** A success whose body is a stream. */
  | {
      readonly outcome: 'opened'
      readonly status: number
      readonly retryAfter?: RetryAfter | undefined
      readonly rateLimits?: RateLimits
      readonly reportedCost: string | null
      readonly body: UpstreamStream
    }
  /** An outcome of `complete`. An error status, or a success with JSON or HTML, is read completely and `answered`. */
  | ProviderOutcome

/**
 * The body of a streamed answer. It asks the network for more only while a read waits, so a slow reader slows the
 * upstream. If the connection breaks, bytes that had arrived and were not read are lost.
 */
export interface UpstreamStream extends ByteStream {
  /** How the stream ended; set once `read()` has given undefined. */
  readonly end: StreamEnd | undefined
}

export type StreamEnd =
  /**
   * The body ended. If it has no declared length, a broken connection looks the same, so only its content shows whether
   * it is complete.
   */
  | { readonly end: 'ended' }
  /** The connection was reset, or closed before the body was complete. */
  | { readonly end: 'broken'; readonly reason: string }
  /** Nothing arrived for `idleTimeoutMs`. */
  | { readonly end: 'idle' }
  | { readonly end: 'aborted' }
