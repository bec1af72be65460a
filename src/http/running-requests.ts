/**
 * Counts requests that have not ended. One whose client has left still runs until its answer is charged or its stream
 * settled, when its connection has long been forgotten.
 */
export class RunningRequests {
  #count = 0
  #whenIdle: PromiseWithResolvers<void> | undefined

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    this.#whenIdle?.resolve()
    this.#whenIdle = undefined
  }

  /** Resolves as soon as none runs. */
  idle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    this.#whenIdle ??= Promise.withResolvers()
    return this.#whenIdle.promise
  }
}
