import type { ProviderOutcome } from '../../gateway/ports/text-provider.ts'
import { NOT_UTF8 } from '../../gateway/ports/text-provider.ts'
import { utf8Text } from '../../http1/wire/utf8-text.ts'
import { gather } from '../gather.ts'
import type { HttpExchange, PieceReceiver } from '../../http1/client/http-client.ts'
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
export type ReadPiece = (receiver: PieceReceiver) => void
type NextPiece = () => Promise<Uint8Array<ArrayBuffer> | undefined>

/** Why the body behind these headers cannot be used; undefined where it can. */
export function bodyProblem({ contentEncoding, contentLength }: AnswerHead): string | undefined {
  if (contentEncoding !== undefined && !formats.has(contentEncoding.toLowerCase())) {
    return 'the answer has an unknown content-encoding'
  }
  return contentLength !== undefined && contentLength > ANSWER_BYTES_MAX ? TOO_LARGE : undefined
}

/** What a whole answer comes to, whose body stands in `bytes` from `start` to `end`. A promise only where it is compressed. */
export function answered(
  head: AnswerHead,
  bytes: Buffer,
  start: number,
  end: number,
): ProviderOutcome | Promise<ProviderOutcome> {
  const problem = bodyProblem(head)
  if (problem !== undefined) return { outcome: 'unreachable', reason: problem }
  if (head.contentEncoding === undefined) return withBody(head, bytes, start, end)
  return unpacked(head, bytes.subarray(start, end))
}

/** The body's pieces, unpacked. */
export function piecesOf(exchange: HttpExchange, { contentEncoding }: AnswerHead): ReadPiece {
  const format = formats.get(contentEncoding?.toLowerCase() ?? '')
  if (format === undefined) return receiver => exchange.read(receiver)
  const next = unpackedPieces(
    () => new Promise((resolve, reject) => exchange.read({ onPiece: resolve, onFailed: reject })),
    format,
  )
  return receiver => {
    void next().then(
      piece => receiver.onPiece(piece),
      (error: unknown) => receiver.onFailed(error),
    )
  }
}

/** A compressed body may unfold to anything, so its pieces are counted. Rejects for what cannot be unpacked. */
async function unpacked(head: AnswerHead, bytes: Buffer): Promise<ProviderOutcome> {
  const format = formats.get(head.contentEncoding?.toLowerCase() ?? '') as Bun.CompressionFormat
  let packed: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(bytes)
  const read = unpackedPieces(async () => {
    const piece = packed
    packed = undefined
    return piece
  }, format)
  const plain = await gather(read, ANSWER_BYTES_MAX)
  if (plain === undefined) return { outcome: 'unreachable', reason: TOO_LARGE }
  return withBody(head, plain, 0, plain.length)
}

function unpackedPieces(read: NextPiece, format: Bun.CompressionFormat): NextPiece {
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const piece = await read()
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

function withBody(
  { status, headers, rateLimits, reportedCost }: AnswerHead,
  bytes: Buffer,
  start: number,
  end: number,
): ProviderOutcome {
  const body = utf8Text(bytes, start, end) ?? NOT_UTF8
  return { outcome: 'answered', status, headers, rateLimits, reportedCost, body }
}
