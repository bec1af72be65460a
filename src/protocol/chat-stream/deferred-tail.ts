import type { Bytes } from '../../domain/bytes.ts'

/** The most that is deferred of one stream. More than this after the last choice has finished is not its end. */
export const TAIL_BYTES_MAX = 64 * 1024

/** The frames at the end of a stream that are deferred until its charge is durable, in order. */
export class DeferredTail {
  #frames: Bytes[] = []
  #length = 0
  #firstCarriesUsage = false
  /** The index of `[DONE]`. */
  #doneAt: number | undefined

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** Whether the first frame is a usage frame that needs its cost. */
  get firstCarriesUsage(): boolean {
    return this.#firstCarriesUsage
  }

  /** Defers a frame that may be the last one. The tail must be empty. */
  begin(frame: Bytes, carriesUsage: boolean): void {
    this.#firstCarriesUsage = carriesUsage
    this.#push(frame)
  }

  /** Defers a frame after others. False when there is no room; the frame is then not deferred. */
  append(frame: Bytes): boolean {
    if (this.#length + frame.length > TAIL_BYTES_MAX) return false
    this.#push(frame)
    return true
  }

  appendDone(frame: Bytes): void {
    this.#doneAt = this.#frames.length
    this.#push(frame)
  }

  /** Removes and returns all frames: those before `[DONE]`, and the rest. */
  take(): { readonly beforeDone: Bytes[]; readonly done: Bytes[] } {
    const doneAt = this.#doneAt ?? this.#frames.length
    const taken = { beforeDone: this.#frames.slice(0, doneAt), done: this.#frames.slice(doneAt) }
    this.#frames = []
    this.#length = 0
    this.#firstCarriesUsage = false
    this.#doneAt = undefined
    return taken
  }

  /** Sends the frames before `[DONE]`, to `out`. */
  flush(out: Bytes[]): void {
    if (!this.isEmpty) out.push(...this.take().beforeDone)
  }

  /** Sends a frame that cannot be at the end, after the frames that were deferred before it. */
  send(frame: Bytes, out: Bytes[]): void {
    this.flush(out)
    out.push(frame)
  }

  /** Sends a frame that does not show whether the stream is at its end; after deferred frames, it is deferred too. */
  sendInOrder(frame: Bytes, out: Bytes[]): void {
    if (this.isEmpty || !this.append(frame)) this.send(frame, out)
  }

  /** Copies the frame, because it may be a view of a read whose bytes do not stay. */
  #push(frame: Bytes): void {
    this.#frames.push(frame.slice())
    this.#length += frame.length
  }
}
