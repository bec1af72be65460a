type Listener = (accountId: number) => void

/**
 * The hints of one node: they tell its listeners which accounts may have money to hold again. A hint carries no amount:
 * the listener reads the balance.
 */
export class FreedHints {
  readonly #listeners: Listener[] = []

  listen(listener: Listener): void {
    this.#listeners.push(listener)
  }

  report(accountId: number): void {
    for (const listener of this.#listeners) listener(accountId)
  }
}

/** Reports freed money to the hints of all open nodes of a store. */
export class HintBroadcast {
  #nodes: readonly FreedHints[] = []

  /** The hints of a node that opens. */
  add(): FreedHints {
    const hints = new FreedHints()
    this.#nodes = [...this.#nodes, hints]
    return hints
  }

  /** The listeners of a node that closes hear no more hints. */
  remove(hints: FreedHints): void {
    this.#nodes = this.#nodes.filter(node => node !== hints)
  }

  report(accountId: number): void {
    for (const node of this.#nodes) node.report(accountId)
  }
}
