import type { Bytes } from '../../domain/bytes.ts'
const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a

/** The most that is kept of an unfinished frame until its end comes. A longer frame is passed on in pieces, unread. */
const FRAME_BYTES_MAX = 1024 * 1024

/** The first size of the buffer. Most frames that arrive in two halves fit. */
const KEPT_BYTES_MIN = 512

/** The bytes of a frame or of a piece of one, with the line ends that close it. */
export type Frame = {
  readonly bytes: Bytes
  /** False for a piece of a frame that is too large to keep. It can be passed on but not read. */
  readonly isWhole: boolean
}

/**
 * Splits a stream of server-sent events into frames, with any line ends, any number of frames in a read, and any number
 * of reads in a frame. The frames and the final `rest` are together the stream, byte for byte.
 *
 * A frame ends with its blank line. A comment line outside a frame is a frame by itself, because a heartbeat is useless
 * if it waits for the next event. So is a blank line by itself.
 */
export class FrameSplitter {
  readonly #frameBytesMax: number
  #kept: Bytes = new Uint8Array(0)
  #keptLength = 0
  /** The current frame grew too large, and pieces of it have been passed on. */
  #isOversize = false
  #isFrameStart = true
  #isComment = false
  /** The current line has no bytes yet, so that a line end would make it a blank line. */
  #isLineStart = true
  /** A CR ended the last line. An LF that follows belongs to it. */
  #isAfterCr = false

  constructor(frameBytesMax = FRAME_BYTES_MAX) {
    this.#frameBytesMax = frameBytesMax
  }

  /** True between the first byte of a frame and its end. */
  get isMidFrame(): boolean {
    return !this.#isFrameStart
  }

  /** True when the next byte starts a frame, whatever its value. */
  get isBetweenFrames(): boolean {
    return this.#isFrameStart && !this.#isAfterCr
  }

  /** The frames that `chunk` completes. A frame that is all in `chunk` is a view of it. */
  split(chunk: Bytes): Frame[] {
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

  /** Removes and returns the start of a frame whose end has not come; empty when there is none. */
  rest(): Bytes {
    const rest = this.#kept.subarray(0, this.#keptLength)
    this.#keptLength = 0
    return rest
  }

  /** The offset after the frame's end, or -1. Only for chunks without a CR: it can use the native `indexOf`. */
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

  /** Like `#endByLf`, for all kinds of line ends. */
  #endByAny(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]
      const isSecondHalf = byte === LF && this.#isAfterCr
      this.#isAfterCr = false
      if (isSecondHalf) {
        // After a frame that ended with a CR, a late LF is a frame by itself. Inside a frame it changes nothing.
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

  #completed(chunk: Bytes, from: number, end: number): Frame {
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

  #keep(chunk: Bytes, from: number, frames: Frame[]): void {
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
      // Doubling the buffer avoids a copy for each byte when a frame arrives byte by byte.
      const grown = new Uint8Array(Math.max(length, this.#kept.length * 2, KEPT_BYTES_MIN))
      grown.set(this.#kept.subarray(0, this.#keptLength))
      this.#kept = grown
    }
    this.#kept.set(chunk.subarray(from, end), this.#keptLength)
    this.#keptLength = length
  }
}
