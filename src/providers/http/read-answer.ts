import { NOT_UTF8, type ProviderOutcome } from '../../gateway/ports/text-provider.ts'
import type { OwnedByteStream } from '../../http1/byte-stream.ts'
import { ClientError, clientError } from '../../http1/client/client-error.ts'
import type { HttpResponse } from '../../http1/client/http-client.ts'
import { readAll } from '../../http1/read-all.ts'
import { utf8Text } from '../../http1/wire/utf8-text.ts'
import type { AnswerHead } from './answer-head.ts'

/**
 * The largest answer that is read into memory. A chat answer of the largest models is under 1 MB; embeddings reach
 * tens.
 */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024

const TOO_LARGE = 'the answer is larger than 64 MB'

/**
 * The encodings that can be decompressed. The gateway never asks for one, but some proxies in front of providers
 * compress anyway.
 */
const formats = new Map<string, Bun.CompressionFormat>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
  ['zstd', 'zstd'],
])

/** Why the body with these headers cannot be used; undefined if it can. */
export function bodyProblem({ contentEncoding, contentLength }: AnswerHead): string | undefined {
  if (contentEncoding !== undefined && !formats.has(contentEncoding.toLowerCase())) {
    return 'the answer has an unknown content-encoding'
  }
  return contentLength !== undefined && contentLength > ANSWER_BYTES_MAX ? TOO_LARGE : undefined
}

/** Reads a whole answer. Rejects if it breaks off or cannot be decompressed. */
export async function readAnswer(head: AnswerHead, response: HttpResponse): Promise<ProviderOutcome> {
  const problem = bodyProblem(head)
  if (problem !== undefined) {
    response.cancel()
    return { outcome: 'unreachable', reason: problem }
  }
  const { status, contentType, retryAfter, rateLimits, reportedCost } = head
  try {
    const text = await (head.contentEncoding === undefined
      ? response.readText(ANSWER_BYTES_MAX)
      : decompressedText(response, head))
    const body = text ?? NOT_UTF8
    return { outcome: 'answered', status, contentType, retryAfter, rateLimits, reportedCost, body }
  } catch (error) {
    if (error instanceof ClientError && error.code === 'RESPONSE_TOO_LARGE')
      return { outcome: 'unreachable', reason: TOO_LARGE }
    throw error
  }
}

/** The limit applies to the decompressed body, which may be many times larger. */
async function decompressedText(response: HttpResponse, head: AnswerHead): Promise<string | undefined> {
  const bytes = await readAll(decompressed(response, head), ANSWER_BYTES_MAX)
  if (bytes !== undefined) return utf8Text(bytes, 0, bytes.length)
  response.cancel()
  throw clientError('RESPONSE_TOO_LARGE')
}

/** The body without its content encoding. Reads reject if it cannot be decompressed. */
export function decompressed(body: OwnedByteStream, { contentEncoding }: AnswerHead): OwnedByteStream {
  const format = formats.get(contentEncoding?.toLowerCase() ?? '')
  if (format === undefined) return body
  const compressed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const piece = await body.read()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
  // The DOM's list of formats is shorter than Bun's.
  const reader = compressed.pipeThrough(new DecompressionStream(format as CompressionFormat)).getReader()
  return {
    async read() {
      for (;;) {
        const { value } = await reader.read()
        if (value === undefined || value.length > 0) return value
      }
    },
    cancel: () => body.cancel(),
  }
}
