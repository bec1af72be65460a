import type { ByteStream } from '../byte-stream.ts'
import type { CallerSignal } from '../caller-signal.ts'

/**
 * Opens a URL from an untrusted source: an input link from a customer, or a result link from a provider. Reaches public
 * addresses only, also after redirects. Sends no credentials except those of `authorization`. Never rejects: each way
 * in which it can end is an outcome. It changes nothing at the server, so it may be repeated.
 */
export type UntrustedFetch = (url: string, terms: FetchTerms) => Promise<FetchOutcome>

export type FetchTerms = {
  /** A longer body fails: at once if its length is declared, otherwise while it is read. */
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
  /** The address, scheme or form of the URL, or of a redirect, is not allowed. No request was sent to that address. */
  | { readonly outcome: 'refused'; readonly problem: string }
  /**
   * `isPermanent` if a retry cannot help: the server reports that the file does not exist, or the file is too large.
   */
  | { readonly outcome: 'failed'; readonly problem: string; readonly isPermanent: boolean }

/** The bytes of a fetched file. */
export interface FetchedBody extends ByteStream {
  /** Why it ended before its last byte; undefined if it is complete. Set when `read()` has given undefined. */
  readonly failure: { readonly problem: string; readonly isPermanent: boolean } | undefined
}
