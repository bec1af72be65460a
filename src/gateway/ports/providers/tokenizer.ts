/** Counts the tokens of texts if the upstream did not report them. */
export interface Tokenizer {
  /**
   * The number of tokens of all texts together. It is an estimate, because each model family has its own tokenizer.
   * Never rejects, and resolves within seconds: texts that are too long to count exactly are counted roughly.
   */
  countTokens(texts: readonly string[]): Promise<number>
}
