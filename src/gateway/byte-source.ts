/** Bytes on their way to a client, made as they are asked for. */
export interface ByteSource {
  /** The next bytes, never none; undefined at the end, and ever after. One read at a time. Never rejects. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** The client has left, and reads no more. After the end, or repeated, it changes nothing. */
  cancel(): void
}
