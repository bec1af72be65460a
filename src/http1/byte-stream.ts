/** Bytes that a reader asks for one piece at a time. */
export interface ByteStream {
  /**
   * Returns the next bytes, never an empty piece, or undefined at the end. Rejects when the stream breaks off. The
   * bytes are valid until the next `read`. Start a `read` only after the previous one has ended.
   */
  read(): Promise<Uint8Array | undefined>
  /** Ends the stream early. A pending `read` returns undefined. Has no effect when the stream has already ended. */
  cancel(): void
}

/** A stream whose reader may keep the bytes. */
export interface OwnedByteStream extends ByteStream {
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>
}

/** A stream with one piece. */
export function streamOf(bytes: Uint8Array): ByteStream {
  let next: Uint8Array | undefined = bytes.length > 0 ? bytes : undefined
  return {
    read() {
      const piece = next
      next = undefined
      return Promise.resolve(piece)
    },
    cancel() {
      next = undefined
    },
  }
}
