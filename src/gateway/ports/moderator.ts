/** Says whether a text may be sent to a model. */
export interface Moderator {
  /**
   * Judges the pieces of one request's text together. Never rejects, and answers within seconds: a moderator that is down, slow
   * or says something else than a verdict is `unavailable`. Changes nothing, so repeating it is harmless.
   */
  judge(pieces: readonly string[]): Promise<Moderation>
}

export type Moderation =
  | { readonly verdict: 'passed' }
  | { readonly verdict: 'flagged' }
  /** `problem` is for the operator: no key, no address. */
  | { readonly verdict: 'unavailable'; readonly problem: string }
