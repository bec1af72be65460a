/** Gives each walk its own turns of the event loop, so that several walks delay requests no longer than one. */
export class ReadTurns {
  #last: Promise<void> = Promise.resolve()

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise(resolve => setImmediate(resolve)))
    return this.#last
  }
}
