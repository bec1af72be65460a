type Bytes = Uint8Array<ArrayBuffer>

/** What is held back of one stream at most. More after the last choice finished means that it was not the end yet. */
export const TAIL_BYTES_MAX = 64 * 1024

/** The frames at the end of a stream that wait for its charge, in order. */
export class DeferredTail {
  #frames: Bytes[] = []
  #length = 0
  #firstCarriesUsage = false
  /** Where `[DONE]` stands; what follows it stands after it. */
  #doneAt: number | undefined

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** The first frame is a usage frame that waits for its cost. */
  get firstCarriesUsage(): boolean {
    return this.#firstCarriesUsage
  }

  /** Holds a frame that may be the last one. Nothing may be held already. */
  begin(frame: Bytes, carriesUsage: boolean): void {
    this.#firstCarriesUsage = carriesUsage
    this.#push(frame)
  }

  /** Holds what follows. False where that would be too much; the frame is then not held. */
  append(frame: Bytes): boolean {
    if (this.#length + frame.length > TAIL_BYTES_MAX) return false
    this.#push(frame)
    return true
  }

  appendDone(frame: Bytes): void {
    this.#doneAt = this.#frames.length
    this.#push(frame)
  }

  /** Lets all go: what stood before `[DONE]`, and the rest. */
  take(): { readonly beforeDone: Bytes[]; readonly done: Bytes[] } {
    const doneAt = this.#doneAt ?? this.#frames.length
    const taken = { beforeDone: this.#frames.slice(0, doneAt), done: this.#frames.slice(doneAt) }
    this.#frames = []
    this.#length = 0
    this.#firstCarriesUsage = false
    this.#doneAt = undefined
    return taken
  }

  #push(frame: Bytes): void {
    this.#frames.push(frame)
    this.#length += frame.length
  }
}
