import type { FileHandle } from 'node:fs/promises'
import type { Bytes } from '../../domain/bytes.ts'
import type { ByteStream } from '../../gateway/ports/byte-stream.ts'
import type { BlobRange } from '../../gateway/ports/media/blobs.ts'

/** The memory of one reader of a file. */
const PIECE_BYTES = 128 * 1024

/**
 * A part of an open file. Reads it on demand, always into the same memory. Closes the file at the end, on a failure and
 * when it is cancelled.
 */
export class FileStream implements ByteStream {
  readonly #file: FileHandle
  readonly #end: number
  #at: number
  #memory: Bytes | undefined
  #isOver = false
  #isReading = false

  constructor(file: FileHandle, { start, end }: BlobRange) {
    this.#file = file
    this.#at = start
    this.#end = end
  }

  async read(): Promise<Bytes | undefined> {
    if (this.#isOver) return undefined
    this.#isReading = true
    try {
      const piece = await this.#nextPiece()
      // It may have been cancelled during the read.
      return this.#isOver ? undefined : piece
    } catch (error) {
      this.#isOver = true
      throw error
    } finally {
      this.#isReading = false
      this.#isOver ||= this.#at >= this.#end
      if (this.#isOver) await this.#file.close()
    }
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    // A running read closes the file itself. If the descriptor were closed during the read, it could become another
    // file.
    if (!this.#isReading) this.#file.close().catch(() => {})
  }

  async #nextPiece(): Promise<Bytes | undefined> {
    const length = Math.min(PIECE_BYTES, this.#end - this.#at)
    if (length <= 0) return undefined
    this.#memory ??= new Uint8Array(length)
    const { bytesRead } = await this.#file.read(this.#memory, 0, length, this.#at)
    // Blobs are replaced by other files, never shortened.
    if (bytesRead === 0) throw new Error('A stored file is shorter than it was.')
    this.#at += bytesRead
    return this.#memory.subarray(0, bytesRead)
  }
}
