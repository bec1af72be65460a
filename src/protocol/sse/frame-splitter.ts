const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a

/** How much of an unfinished frame is kept until its end comes. A longer one is passed on in pieces, unread. */
export const FRAME_BYTES_MAX = 1024 * 1024

/** Bytes kept at first; most frames that arrive in two halves fit. */
const KEPT_BYTES_MIN = 512

/** A frame of a stream, or a piece of one, byte for byte with the line ends that close it. */
export type Frame = {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** False for a piece of a frame that is too large to keep: it can be passed on, not read. */
  readonly isWhole: boolean
}

/**
 * Cuts a stream of server-sent events into frames, however it arrives: any line ends, any number of frames in a read or
 * reads in a frame. The frames, and at the end the `rest`, put together are the stream, byte for byte.
 *
 * A frame ends with its blank line. A comment line outside a frame is let go at its line end, because a heartbeat that
 * waits for the next event is none. A blank line on its own is a frame of its own.
 */
export class FrameSplitter {
  readonly #frameBytesMax: number
  #kept: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #keptLength = 0
  /** The frame under way grew too large, and pieces of it have been let go. */
  #isOversize = false
  #isFrameStart = true
  #isComment = false
  /** The line under way has no bytes yet, so a line end now is a blank line. */
  #isLineStart = true
  /** A CR ended the last line; an LF that follows is its second half. */
  #isAfterCr = false

  constructor(frameBytesMax = FRAME_BYTES_MAX) {
    this.#frameBytesMax = frameBytesMax
  }

  /** True between the first byte of a frame and its end. */
  get isMidFrame(): boolean {
    return !this.#isFrameStart
  }

  /** True where the next byte begins a frame, whatever it is. */
  get isBetweenFrames(): boolean {
    return this.#isFrameStart && !this.#isAfterCr
  }

  /** The frames that `chunk` completes, as views of it wherever it holds all of a frame. `chunk` must not change later. */
  split(chunk: Uint8Array<ArrayBuffer>): Frame[] {
    const frames: Frame[] = []
    const isPlain = !this.#isAfterCr && chunk.indexOf(CR) === -1
    let from = 0
    while (from < chunk.length) {
      if (this.#isFrameStart) this.#isComment = chunk[from] === COLON
      const end = isPlain ? this.#endByLf(chunk, from) : this.#endByAny(chunk, from)
      if (end === -1) {
        this.#isFrameStart = false
        this.#keep(chunk, from, frames)
        break
      }
      frames.push(this.#completed(chunk, from, end))
      this.#isFrameStart = true
      this.#isLineStart = true
      from = end
    }
    return frames
  }

  /** The start of a frame whose end has not come; empty when there is none. Takes it. */
  rest(): Uint8Array<ArrayBuffer> {
    const rest = this.#kept.subarray(0, this.#keptLength)
    this.#keptLength = 0
    return rest
  }

  /** The byte after the frame's end, or -1. Only for chunks without a CR: it leaves the search to the native `indexOf`. */
  #endByLf(chunk: Uint8Array, from: number): number {
    if (this.#isLineStart && chunk[from] === LF) return from + 1
    let at = from
    for (;;) {
      const lf = chunk.indexOf(LF, at)
      if (lf === -1) {
        if (at < chunk.length) this.#isLineStart = false
        return -1
      }
      if (this.#isComment) return lf + 1
      if (chunk[lf + 1] === LF) return lf + 2
      this.#isLineStart = true
      at = lf + 1
    }
  }

  /** As `#endByLf`, for line ends of every kind. */
  #endByAny(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]
      const isSecondHalf = byte === LF && this.#isAfterCr
      this.#isAfterCr = false
      if (isSecondHalf) {
        // After a frame that ended with a lone CR, its late LF stands alone; inside a frame it changes nothing.
        if (this.#isFrameStart && at === from) return at + 1
        continue
      }
      if (byte !== LF && byte !== CR) {
        this.#isLineStart = false
        continue
      }
      const isEnd = this.#isLineStart || this.#isComment
      if (isEnd && byte === CR && chunk[at + 1] === LF) return at + 2
      this.#isAfterCr = byte === CR
      if (isEnd) return at + 1
      this.#isLineStart = true
    }
    return -1
  }

  #completed(chunk: Uint8Array<ArrayBuffer>, from: number, end: number): Frame {
    const isWhole = !this.#isOversize
    this.#isOversize = false
    if (this.#keptLength > 0) {
      this.#append(chunk, from, end)
      const bytes = this.#kept.slice(0, this.#keptLength)
      this.#keptLength = 0
      return { bytes, isWhole }
    }
    const isAll = from === 0 && end === chunk.length
    return { bytes: isAll ? chunk : chunk.subarray(from, end), isWhole }
  }

  #keep(chunk: Uint8Array<ArrayBuffer>, from: number, frames: Frame[]): void {
    if (!this.#isOversize && this.#keptLength + chunk.length - from <= this.#frameBytesMax) {
      this.#append(chunk, from, chunk.length)
      return
    }
    this.#isOversize = true
    if (this.#keptLength > 0) frames.push({ bytes: this.rest(), isWhole: false })
    this.#kept = new Uint8Array(0)
    frames.push({ bytes: chunk.subarray(from), isWhole: false })
  }

  #append(chunk: Uint8Array, from: number, end: number): void {
    const length = this.#keptLength + end - from
    if (length > this.#kept.length) {
      // Doubling keeps a frame that drips in byte by byte from being copied once a byte.
      const grown = new Uint8Array(Math.max(length, this.#kept.length * 2, KEPT_BYTES_MIN))
      grown.set(this.#kept.subarray(0, this.#keptLength))
      this.#kept = grown
    }
    this.#kept.set(chunk.subarray(from, end), this.#keptLength)
    this.#keptLength = length
  }
}
