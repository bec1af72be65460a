import type { ByteStream } from './byte-stream.ts'
import type { CallerSignal } from './caller-signal.ts'

/**
 * Opens a URL on somebody else's word: an input of a customer, or a result link of a provider. Reaches public addresses
 * only, also after redirects, and sends no credentials but those of `authorization`. Never rejects: each way it can end
 * is an outcome. Changes nothing at the other end, so repeating it is harmless.
 */
export type UntrustedFetch = (url: string, terms: FetchTerms) => Promise<FetchOutcome>

export type FetchTerms = {
  /** A longer body ends as `failed`, when its length is declared, or else while it is read. */
  readonly bytesMax: number
  /** From the start to the last byte. */
  readonly timeoutMs: number
  readonly signal?: CallerSignal
  /** Headers with the operator's key, and the only hosts that get them. */
  readonly authorization?: {
    readonly hosts: readonly string[]
    readonly headers: Readonly<Record<string, string>>
  }
}

export type FetchOutcome =
  /** A success. The body must be read to its end or cancelled. */
  | {
      readonly outcome: 'opened'
      readonly contentType: string
      readonly bytes?: number
      readonly body: FetchedBody
    }
  /** The address, scheme or form of the URL, or of a redirect, is not allowed. Nothing was asked of that address. */
  | { readonly outcome: 'refused'; readonly problem: string }
  /** `isPermanent` where asking again cannot help: the server says that there is no such file, or it is too large. */
  | { readonly outcome: 'failed'; readonly problem: string; readonly isPermanent: boolean }

/** The bytes of a fetched file. */
export interface FetchedBody extends ByteStream {
  /** Why it ended before its last byte; undefined where it came whole. Set when `read()` has given undefined. */
  readonly failure: { readonly problem: string; readonly isPermanent: boolean } | undefined
}
