import type { HttpExchange } from '../http-client/http-client.ts'
import type { AnswerHead } from './answer-head.ts'

/** The largest answer that is read into memory. A chat answer of the largest models is under 1 MB; embeddings reach tens. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export const TOO_LARGE = 'the answer is larger than 64 MB'

/** What can be unpacked. Nobody asked for it, but some proxies in front of providers do it anyway. */
const formats = new Map<string, Bun.CompressionFormat>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
  ['zstd', 'zstd'],
])

/** Gives the next bytes of a body, never none, and undefined at its end. */
export type ReadPiece = () => Promise<Uint8Array<ArrayBuffer> | undefined>

/** Why the body behind these headers cannot be used; undefined where it can. */
export function bodyProblem({ contentEncoding, contentLength }: AnswerHead): string | undefined {
  if (contentEncoding !== undefined && !formats.has(contentEncoding.toLowerCase())) {
    return 'the answer has an unknown content-encoding'
  }
  return contentLength !== undefined && contentLength > ANSWER_BYTES_MAX ? TOO_LARGE : undefined
}

/** The whole body, or undefined where it is larger than ANSWER_BYTES_MAX. Rejects where it breaks off. */
export function readAnswer(
  exchange: HttpExchange,
  head: AnswerHead,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // A plain one is counted by the client itself; a compressed one may unfold to anything.
  if (head.contentEncoding === undefined) return exchange.whole(ANSWER_BYTES_MAX)
  return readCounted(piecesOf(exchange, head))
}

/** The body's pieces, unpacked. */
export function piecesOf(exchange: HttpExchange, { contentEncoding }: AnswerHead): ReadPiece {
  const format = formats.get(contentEncoding?.toLowerCase() ?? '')
  if (format === undefined) return () => exchange.read()
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const piece = await exchange.read()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
  // The DOM's list of formats is the shorter one.
  const reader = packed.pipeThrough(new DecompressionStream(format as CompressionFormat)).getReader()
  return async () => {
    for (;;) {
      const { value } = await reader.read()
      if (value === undefined || value.length > 0) return value
    }
  }
}

async function readCounted(read: ReadPiece): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for (let part = await read(); part !== undefined; part = await read()) {
    length += part.length
    if (length > ANSWER_BYTES_MAX) return undefined
    parts.push(part)
  }
  return new Uint8Array(Buffer.concat(parts, length))
}
