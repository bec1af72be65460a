import type { Provider, TextRoute } from '../../domain/catalog/provider.ts'

/** A kind of provider that serves text routes, such as `openai-compatible` or the sandbox. */
export interface TextProvider {
  /**
   * Sends one request and reads the whole answer. Never throws for what an upstream or the network does; each way it can
   * end is an outcome. Never repeats the request. `signal` aborts it, and then the outcome is `aborted`.
   */
  complete(call: ProviderCall, signal?: AbortSignal): Promise<ProviderOutcome>
}

export type ProviderCall = {
  readonly provider: Provider
  readonly route: TextRoute
  /** The upstream's own model name, as it stands in `body`. */
  readonly model: string
  /** Sent as it is. */
  readonly body: Uint8Array<ArrayBuffer>
  readonly readTimeoutMs: number
}

export type ProviderOutcome =
  /** A whole HTTP answer, of any status. */
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** Only those on the allowlist: `content-type`, `retry-after`, `x-ratelimit-*`; and the provider's cost header as `cost`. */
      readonly headers: Readonly<Record<string, string>>
      readonly reportedCost: string | null
      readonly body: Uint8Array<ArrayBuffer>
    }
  /** DNS, TLS, refused, reset, or cut before the answer was whole. */
  | { readonly outcome: 'unreachable'; readonly reason: string }
  /** Nothing whole came within `readTimeoutMs`. */
  | { readonly outcome: 'timed_out' }
  | { readonly outcome: 'aborted' }
