import type { ByteStream } from '../ports/byte-stream.ts'

/** A stream that notes the format of its bytes on the way. */
export interface Sniffed extends ByteStream {
  /** Undefined before the first bytes, and for a format that is not known. */
  readonly mediaType: string | undefined
}

export function sniffed(source: ByteStream): Sniffed {
  return { read: () => source.read(), cancel: () => source.cancel(), mediaType: undefined }
}
