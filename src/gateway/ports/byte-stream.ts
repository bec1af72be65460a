import type { Bytes } from '../../domain/bytes.ts'
/** Bytes that are read one piece at a time, when the reader asks for the piece. */
export interface ByteStream {
  /**
   * The next bytes, never empty; undefined at the end, and after it. One read at a time. The bytes are valid until
   * the next read. Rejects if the source breaks: a cut upload, an unreadable file. A stream that makes a text reply
   * never rejects.
   */
  read(): Promise<Bytes | undefined>
  /** Stops it at once; a read that waits resolves with undefined. After the end, or repeated, it changes nothing. */
  cancel(): void
}
