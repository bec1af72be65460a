import { pause, type Clock } from '../../../src/gateway/ports/clock.ts'
import { chunk, EVENT_STREAM, head } from '../upstream-replies.ts'
import { startUpstream, type Exchange, type Upstream } from '../upstream.ts'
import type { SimulatedReply, SimulatedRequest } from './simulated-reply.ts'

/** A simulated provider behind a real socket of this machine. */
export type SimulatedServer = Pick<Upstream, 'requests' | 'connections' | 'close'> & {
  /** Without a path, and without a slash at its end. */
  readonly url: string
}

/** Serves what `handle` answers. Pauses are made on the clock. */
export function simulatedServer(
  handle: (request: SimulatedRequest) => SimulatedReply,
  clock: Pick<Clock, 'after'>,
): SimulatedServer {
  const upstream = startUpstream()
  upstream.reply(async exchange => {
    const { method, path, headers } = exchange.request
    await send(handle({ method, path, headers, body: exchange.request.text() }), exchange, clock)
  })
  return Object.assign(upstream, { url: new URL(upstream.baseUrl).origin })
}

async function send(reply: SimulatedReply, exchange: Exchange, clock: Pick<Clock, 'after'>): Promise<void> {
  switch (reply.send) {
    case 'reset':
      return exchange.reset()
    case 'nothing':
      return exchange.closed
    case 'answer': {
      const bytes = typeof reply.body === 'string' ? new TextEncoder().encode(reply.body) : reply.body
      await exchange.write(head(reply.status, { ...reply.headers, 'content-length': String(bytes.length) }))
      return exchange.write(bytes)
    }
    case 'events':
      return sendEvents(reply, exchange, clock)
    case 'pieces': {
      const { headers, piece, bytes, pauseMs } = reply
      await exchange.write(head(200, { ...headers, 'content-length': String(bytes) }))
      const closed = exchange.closed.then((): true => true)
      for (let sent = 0; sent < bytes; sent += piece.length) {
        if (sent > 0 && (await isClosedAfter(pauseMs, closed, clock))) return
        await exchange.write(piece.subarray(0, bytes - sent))
      }
    }
  }
}

async function sendEvents(
  { events, pauseMs, end }: Extract<SimulatedReply, { send: 'events' }>,
  exchange: Exchange,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
  const closed = exchange.closed.then((): true => true)
  for (const [index, event] of events.entries()) {
    if (index > 0 && (await isClosedAfter(pauseMs, closed, clock))) return
    await exchange.write(chunk(event))
  }
  if (end === 'whole') await exchange.write('0\r\n\r\n')
  else if (end === 'reset') exchange.reset()
}

async function isClosedAfter(
  pauseMs: number,
  closed: Promise<true>,
  clock: Pick<Clock, 'after'>,
): Promise<boolean> {
  return Promise.race([closed, pauseMs > 0 && pause(clock, pauseMs).then(() => false)])
}
