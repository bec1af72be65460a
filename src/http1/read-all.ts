import type { ByteStream, OwnedByteStream } from './byte-stream.ts'
import { GrowingBuffer } from './growing-buffer.ts'

/** Reads a stream to its end. Only for a stream that has a limit of its own. */
export async function readToEnd(
  stream: Pick<ByteStream, 'read'>,
  bytes = new GrowingBuffer(),
): Promise<Buffer<ArrayBuffer>> {
  for (let piece = await stream.read(); piece !== undefined; piece = await stream.read()) bytes.append(piece)
  return bytes.takeBuffer()
}

/**
 * Reads a stream to its end. Stops, without cancelling the stream, and returns undefined when it is longer than
 * `bytesMax`. A stream of one piece is not copied.
 */
export async function readAll(
  stream: Pick<OwnedByteStream, 'read'>,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const first = await stream.read()
  if (first === undefined) return Buffer.alloc(0)
  let length = first.length
  let bytes: GrowingBuffer | undefined
  while (length <= bytesMax) {
    const piece = await stream.read()
    if (piece === undefined) {
      const whole = bytes?.take() ?? first
      return Buffer.from(whole.buffer, whole.byteOffset, length)
    }
    if (bytes === undefined) {
      bytes = new GrowingBuffer()
      bytes.append(first)
    }
    bytes.append(piece)
    length += piece.length
  }
  return undefined
}
