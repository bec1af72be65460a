type Listener = (accountId: number) => void

/** Tells listeners which accounts may have money to hold again. A hint carries no amount: the listener reads the balance. */
export class FreedHints {
  readonly #listeners: Listener[] = []

  listen(listener: Listener): void {
    this.#listeners.push(listener)
  }

  tell(accountId: number): void {
    for (const listener of this.#listeners) listener(accountId)
  }
}
