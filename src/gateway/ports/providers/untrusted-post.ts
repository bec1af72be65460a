import type { CallerSignal } from '../caller-signal.ts'

/**
 * Posts to an address that a customer may have chosen. Reaches public addresses only, over https, and follows no
 * redirects. Reads nothing of the answer but its status. Never rejects: each way in which it can end is an outcome.
 */
export type UntrustedPost = (url: string, terms: PostTerms) => Promise<PostOutcome>

export type PostTerms = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** From the start to the head of the answer. */
  readonly timeoutMs: number
  readonly signal?: CallerSignal
  /** Whether private and loopback addresses may be reached, also over http. */
  readonly allowsPrivate: boolean
}

export type PostOutcome =
  /** Any status, also that of a redirect. */
  | { readonly outcome: 'answered'; readonly status: number }
  /** The address, scheme or form of the URL is not allowed. No request was sent. */
  | { readonly outcome: 'refused'; readonly problem: string }
  | { readonly outcome: 'failed'; readonly problem: string }
