/** Counts the tokens of texts whose upstream did not. */
export interface Tokenizer {
  /**
   * How many tokens the texts come to, together. An estimate: every model family has a tokenizer of its own. Never rejects, and
   * answers within seconds: what is too much to count exactly is counted roughly.
   */
  countTokens(texts: readonly string[]): Promise<number>
}
