/** Counts, since the start of the process, the streams of each model that ended because their upstream was silent. */
export class IdleStreams {
  readonly #byModel = new Map<string, number>()

  /** Takes note of such a stream. */
  count(model: string): void {
    this.#byModel.set(model, (this.#byModel.get(model) ?? 0) + 1)
  }

  /** The models with such streams, the one with the most first. */
  list(): readonly (readonly [model: string, streams: number])[] {
    return [...this.#byModel].sort(([, left], [, right]) => right - left)
  }
}
