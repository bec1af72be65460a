type Listener = (accountId: number) => void

/**
 * Tells listeners which accounts may have money to hold again. A hint carries no amount: the listener reads the
 * balance.
 */
export class FreedHints {
  readonly #listeners = new Set<Listener>()

  /** Returns how to stop listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(accountId: number): void {
    for (const listener of this.#listeners) listener(accountId)
  }
}
