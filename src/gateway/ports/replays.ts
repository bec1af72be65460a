/** The answer to a request, kept for identical repeats of it. Its status was 200. */
export type KeptAnswer = {
  /** Those that a repeat carries too: the content type and, for a stream, how it is to be handled on its way. Never changed. */
  readonly headers: Readonly<Record<string, string>>
  /** The catalog row that answered, for the metrics. */
  readonly model: string | undefined
  /** Text, or the bytes that a stream once was. */
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** What identical requests have in common. */
export type Fingerprint = {
  readonly apiKeyId: number
  /** One of few. */
  readonly route: string
  /** SHA-256 of the body, as eight words of 32 bits. */
  readonly digest: Int32Array<ArrayBuffer>
}

/**
 * Answers of the last while, by the fingerprint of their request. A cache: one that is full or down keeps nothing and finds
 * nothing, which costs a second call of the model and never an error. No method throws, rejects, or waits for long.
 */
export interface Replays {
  /** What was kept, unless its time is over. Synchronous where the answers are in memory. */
  find(fingerprint: Fingerprint): KeptAnswer | undefined | Promise<KeptAnswer | undefined>

  /**
   * Keeps an answer for the time the cache was opened with, counted from now. Repeating it replaces the answer and begins its
   * time anew. `body` is copied before this returns.
   */
  keep(fingerprint: Fingerprint, answer: KeptAnswer): void | Promise<void>
}

/** The memory that kept answers and the copies of running streams share. */
export interface ReplayBudget {
  /** Takes so many bytes, or none and answers false. */
  take(bytes: number): boolean
  /** Gives back what was taken. */
  give(bytes: number): void
  /** How many bytes are taken. */
  readonly taken: number
}
