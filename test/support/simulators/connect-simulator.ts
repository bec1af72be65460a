import type { Clock } from '../../../src/gateway/ports/clock.ts'
import { httpClient } from '../../../src/http1/client/http-client.ts'
import { Timers } from '../../../src/http1/timers.ts'
import { mediaHttp, type SendMedia } from '../../../src/providers/media/media-http.ts'
import { refusedUrl } from '../upstream.ts'
import type { SimulatedReply, SimulatedRequest } from './simulated-reply.ts'
import { simulatedSend } from './simulated-send.ts'
import { simulatedServer } from './simulated-server.ts'

/** A way to a simulated provider. */
export type SimulatorConnection = {
  readonly url: string
  readonly send: SendMedia
  readonly close: () => Promise<void>
}
export type ConnectSimulator = (
  handle: (request: SimulatedRequest) => SimulatedReply,
  clock: Clock,
) => Promise<SimulatorConnection>

/** Without a network. Requests to `refusedUrl()` are refused as by one. */
export const inMemory: ConnectSimulator = async (handle, clock) => {
  const simulated = simulatedSend(handle, clock)
  return {
    url: 'http://simulator',
    send: async request =>
      request.url.origin === new URL(refusedUrl()).origin
        ? { reply: 'none', isSent: false, problem: 'ECONNREFUSED' }
        : simulated(request),
    close: async () => {},
  }
}

/** Over TCP, with the gateway's own HTTP client. */
export const overSockets: ConnectSimulator = async (handle, clock) => {
  const server = simulatedServer(handle, clock)
  const http = httpClient(new Timers(clock))
  return {
    url: server.url,
    send: mediaHttp(http),
    async close() {
      http.close()
      server.close()
    },
  }
}
