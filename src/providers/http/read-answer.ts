import type { Bytes } from '../../domain/bytes.ts'
import {
  NOT_UTF8,
  type ProviderOutcome,
  type RateLimits,
  type RetryAfter,
} from '../../gateway/ports/providers/text-provider.ts'
import type { OwnedByteStream } from '../../http1/byte-stream.ts'
import { ClientError, clientError } from '../../http1/client/client-error.ts'
import type { HttpResponse } from '../../http1/client/http-client.ts'
import { readAll } from '../../http1/read-all.ts'
import { utf8Text } from '../../http1/wire/utf8-text.ts'

/** The parts of an answer's head that are used. */
export type AnswerHead = {
  readonly status: number
  readonly contentType: string | undefined
  readonly retryAfter: RetryAfter | undefined
  readonly rateLimits: RateLimits
  readonly reportedCost: string | null
  /** The declared length of the body as sent; undefined if none is declared. */
  readonly contentLength: number | undefined
  /** Undefined for a plain body. */
  readonly contentEncoding: string | undefined
}

const RATE_LIMITS = 'x-ratelimit-'

export function readHead(
  { status, headers: fields, contentLength }: Pick<HttpResponse, 'status' | 'headers' | 'contentLength'>,
  costHeader: string | undefined,
): AnswerHead {
  const costName = costHeader?.toLowerCase()
  const rateLimits: [string, string][] = []
  let contentType: string | undefined
  let retryAfter: string | undefined
  let reportedCost: string | null = null
  let contentEncoding: string | undefined
  for (let index = 0; index < fields.count; index += 1) {
    if (fields.isNamed(index, 'content-type')) contentType = joined(contentType, fields.valueAt(index))
    else if (fields.isNamed(index, 'retry-after')) retryAfter = joined(retryAfter, fields.valueAt(index))
    else if (fields.isNamed(index, 'content-encoding') && fields.valueAt(index) !== 'identity')
      contentEncoding = joined(contentEncoding, fields.valueAt(index))
    else if (fields.isNamed(index, RATE_LIMITS, 'prefix'))
      rateLimits.push([fields.nameAt(index), fields.valueAt(index)])
    if (costName !== undefined && fields.isNamed(index, costName))
      reportedCost = joined(reportedCost ?? undefined, fields.valueAt(index))
  }
  return {
    status,
    contentType,
    retryAfter: retryAfter === undefined ? undefined : readRetryAfter(retryAfter),
    rateLimits,
    reportedCost,
    contentLength,
    contentEncoding,
  }
}

/** A header that comes more than once is a list of its values. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`
}

const SECONDS = /^\d{1,9}$/

/** Reads a `Retry-After` header, which is a number of seconds or a date. */
export function readRetryAfter(header: string): RetryAfter {
  const text = header.trim()
  if (SECONDS.test(text)) return { text: header, delayMs: Number(text) * 1000 }
  // A date contains letters. Without this check, Date.parse would read "-5" and "1.5" as years.
  const untilMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(untilMs) ? { text: header } : { text: header, untilMs }
}

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
  const compressed = new ReadableStream<Bytes>({
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
