/** Bytes on their way to a client, made as they are asked for. */
export interface ByteSource {
  /**
   * The next bytes, never none; undefined at the end, and ever after. At once where they are there already. One read at a time.
   * Never throws or rejects.
   */
  read(): NextBytes | Promise<NextBytes>
  /** The client has left, and reads no more. After the end, or repeated, it changes nothing. */
  cancel(): void
}

export type NextBytes = Uint8Array<ArrayBuffer> | undefined
