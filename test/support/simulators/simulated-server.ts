import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { head } from '../upstream-replies.ts'
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
    case 'pieces': {
      const { headers, piece, bytes, pauseMs } = reply
      await exchange.write(head(200, { ...headers, 'content-length': String(bytes) }))
      const closed = exchange.closed.then(() => true)
      for (let sent = 0; sent < bytes; sent += piece.length) {
        const isClosed = await Promise.race([closed, sent > 0 && pause(clock, pauseMs)])
        if (isClosed) return
        await exchange.write(piece.subarray(0, bytes - sent))
      }
    }
  }
}

async function pause(clock: Pick<Clock, 'after'>, delayMs: number): Promise<false> {
  if (delayMs > 0) await new Promise<void>(resolve => clock.after(delayMs, resolve))
  return false
}
