/** Decides whether a text may be sent to a model. */
export interface Moderator {
  /**
   * Judges the pieces of one request's text together. Never rejects, and resolves within seconds: if the moderator is
   * down, slow or gives an unreadable reply, the verdict is `unavailable`. It changes nothing, so it can be repeated.
   */
  judge(pieces: readonly string[]): Promise<Moderation>
}

export type Moderation =
  | { readonly verdict: 'passed' }
  | { readonly verdict: 'flagged' }
  /** `problem` is for the operator. It contains no key and no address. */
  | { readonly verdict: 'unavailable'; readonly problem: string }
