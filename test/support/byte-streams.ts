import type { ByteStream } from '../../src/gateway/ports/byte-stream.ts'
import { shortLivedPieces } from '../../src/http1/testing/short-lived-pieces.ts'

export type TestStream = ByteStream & {
  /** How many reads there were. */
  readonly reads: number
  readonly isCancelled: boolean
}

/** A stream of the given pieces. Each read overwrites the bytes of the one before, as the contract allows. */
export function streamOf(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): TestStream {
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  const give = shortLivedPieces()
  let reads = 0
  let isCancelled = false
  return {
    async read() {
      if (isCancelled) return undefined
      reads += 1
      give(undefined)
      const next = await iterator.next()
      return next.done === true ? undefined : give(next.value)
    },
    cancel() {
      isCancelled = true
    },
    get reads() {
      return reads
    },
    get isCancelled() {
      return isCancelled
    },
  }
}

/** A stream of one text, in one piece. */
export function streamOfText(text: string): TestStream {
  return streamOf(text === '' ? [] : [new TextEncoder().encode(text)])
}

/** A stream that gives the pieces and then fails. */
export function failingStream(pieces: readonly Uint8Array[], error: unknown): TestStream {
  function* failing(): Generator<Uint8Array> {
    yield* pieces
    throw error
  }
  return streamOf(failing())
}

/** All bytes of a stream, copied. */
export async function bytesOf(stream: ByteStream): Promise<Buffer<ArrayBuffer>> {
  const pieces: Buffer[] = []
  for (let piece = await stream.read(); piece !== undefined; piece = await stream.read()) {
    pieces.push(Buffer.from(piece))
  }
  return Buffer.concat(pieces)
}

export async function textOf(stream: ByteStream): Promise<string> {
  return (await bytesOf(stream)).toString('latin1')
}
