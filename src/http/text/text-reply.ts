import type { StreamedAnswer, TextResult, WholeAnswer } from '../../gateway/text/text-result.ts'
import type { HttpReply } from '../request-context.ts'

/** Proxies must pass a stream on while it is produced. */
const UNBUFFERED = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

/** The HTTP reply to a text request. Throws the error of a request that no upstream answered. */
export function textReply(result: TextResult): HttpReply {
  switch (result.kind) {
    case 'answer':
      return { ...answerHead(result), body: result.body, cost: result.cost }
    case 'stream':
      return { ...answerHead(result), body: result.body, ended: result.ended }
    case 'refusal': {
      const { status, body, retryAfterS, rateLimits } = result
      return { status, headers: { ...Object.fromEntries(rateLimits), ...retryAfter(retryAfterS) }, body }
    }
    case 'error':
      throw result.error
  }
}

function answerHead(answer: WholeAnswer | StreamedAnswer): Omit<HttpReply, 'body'> {
  const { contentType, retryAfterS, rateLimits, isReplay } = answer
  const isEventStream = contentType.startsWith('text/event-stream')
  const headers = {
    'content-type': contentType,
    ...(isEventStream && UNBUFFERED),
    ...Object.fromEntries(rateLimits),
    ...retryAfter(retryAfterS),
  }
  return { status: 200, headers, ...(isReplay && { isReplay }) }
}

function retryAfter(seconds: string | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': seconds }
}
