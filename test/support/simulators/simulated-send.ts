import { pause, type Clock } from '../../../src/gateway/ports/clock.ts'
import type { SendMedia, MediaReply } from '../../../src/providers/media/media-http.ts'
import { bytesOf } from '../byte-streams.ts'
import type { SimulatedReply, SimulatedRequest } from './simulated-reply.ts'

/**
 * Sends requests to a simulated provider without a network, so that a run under a virtual clock is the same each time.
 */
export function simulatedSend(
  handle: (request: SimulatedRequest) => SimulatedReply,
  clock: Pick<Clock, 'after'>,
): SendMedia {
  return async ({ method, url, headers, body, timeoutMs }) => {
    const text = typeof body === 'object' ? (await bytesOf(body.stream)).toString() : (body ?? '')
    const path = url.pathname + url.search
    const reply = handle({ method, path, headers: Object.fromEntries(headers), body: text })
    return wholeReply(reply, timeoutMs, clock)
  }
}

async function wholeReply(
  reply: SimulatedReply,
  timeoutMs: number,
  clock: Pick<Clock, 'after'>,
): Promise<MediaReply> {
  switch (reply.send) {
    case 'reset':
      return { reply: 'none', isSent: true, problem: 'ECONNRESET' }
    case 'nothing':
    case 'events':
    case 'pieces':
      await pause(clock, timeoutMs)
      return { reply: 'none', isSent: true, problem: 'RESPONSE_TIMEOUT' }
    case 'answer': {
      const { status, headers, body } = reply
      const retryAfter = headers['retry-after']
      return {
        reply: 'answer',
        status,
        contentType: headers['content-type'],
        body: typeof body === 'string' ? body : new TextDecoder().decode(body),
        ...(retryAfter === undefined ? {} : { retryAfterS: Number(retryAfter) }),
      }
    }
  }
}
