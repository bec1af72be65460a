import type { AnswerHead } from './answer-head.ts'

/** The largest answer that is read into memory. A chat answer of the largest models is under 1 MB; embeddings reach tens. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** What fetch decompresses by itself. Nobody asked for it, but some proxies in front of providers do it anyway. */
const DECOMPRESSED = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd'])

/** Why the body behind these headers cannot be used; undefined where it can. */
export function bodyProblem(head: AnswerHead): string | undefined {
  if (head.contentEncoding !== undefined && !DECOMPRESSED.has(head.contentEncoding.toLowerCase())) {
    return 'the answer has an unknown content-encoding'
  }
  if (head.contentLength !== undefined && head.contentLength > ANSWER_BYTES_MAX) return TOO_LARGE
  return undefined
}

export const TOO_LARGE = 'the answer is larger than 64 MB'

/** The whole body, or undefined where it is larger than ANSWER_BYTES_MAX. Rejects where it breaks off. */
export function readAnswer(
  response: Response,
  head: AnswerHead,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // With a plain length that has been checked, the runtime's own reader is safe, and cheaper by a tenth of the call.
  if (head.contentLength !== undefined && head.contentEncoding === undefined) return response.bytes()
  return readCounted(response)
}

/** For chunked bodies, whose size shows only as they come, and compressed ones, which may unfold to anything. */
async function readCounted(response: Response): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (response.body === null) return new Uint8Array()
  const reader = response.body.getReader()
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > ANSWER_BYTES_MAX) return undefined
    parts.push(value)
  }
  return joined(parts, length)
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[], length: number): Uint8Array<ArrayBuffer> {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
