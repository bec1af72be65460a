import type { Socket } from 'bun'
import { chatAnswer } from './upstream-replies.ts'
import { requestReader, type RecordedRequest } from './upstream-request.ts'

/**
 * A provider played over real TCP, byte by byte, so that it can also misbehave in ways no HTTP server lets one: see
 * `upstream-replies.ts` for what it can be told to do.
 */
export type Upstream = {
  /** The base URL for a provider row, without a slash at its end. */
  readonly baseUrl: string
  /** Every request so far, in order. */
  readonly requests: readonly RecordedRequest[]
  /** How many connections were ever opened. */
  readonly connections: number
  /** What the following requests get: one reply each, in this order, and the last one for all that come after. */
  reply(...replies: readonly [Reply, ...Reply[]]): void
  /** The next request gets nothing but what the test itself writes; resolves once it has come. */
  hold(): Promise<Exchange>
  /** Breaks every connection. Throws what a reply threw. */
  close(): void
}

/** One way to answer. What it does not close stays open. */
export type Reply = (exchange: Exchange) => void | Promise<void>

export type Exchange = {
  readonly request: RecordedRequest
  /** Resolves when the kernel has taken all of it; waits while the client does not read. Once the client has gone, it does nothing. */
  write(bytes: string | Uint8Array): Promise<void>
  /** How many bytes the kernel has taken so far. */
  readonly written: number
  /** Closes the connection as after a last word (FIN). */
  end(): void
  /** Breaks the connection (RST). */
  reset(): void
  /** Resolves when the connection is closed, by whichever side. */
  readonly closed: Promise<void>
}

type Connection = {
  read(bytes: Uint8Array): void
  drained: PromiseWithResolvers<void>
  readonly closed: PromiseWithResolvers<void>
}

/** The first byte of a client that speaks TLS; it gets what real servers of plain HTTP say then. */
const TLS_HANDSHAKE = 0x16
const PLAIN_HTTP_ONLY = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

export function startUpstream(): Upstream {
  const requests: RecordedRequest[] = []
  const sockets = new Set<Socket<Connection>>()
  const replies: Reply[] = [chatAnswer()]
  const held: PromiseWithResolvers<Exchange>[] = []
  const failures: unknown[] = []
  let connections = 0

  const answer = async (socket: Socket<Connection>, request: RecordedRequest) => {
    requests.push(request)
    const exchange = exchangeOn(socket, request)
    const holder = held.shift()
    if (holder !== undefined) return holder.resolve(exchange)
    const reply = replies.length > 1 ? replies.shift() : replies[0]
    await reply?.(exchange)
  }

  const listener = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        connections += 1
        sockets.add(socket)
        socket.setNoDelay(true)
        const read = requestReader(connections)
        socket.data = {
          read(bytes) {
            for (const request of read(bytes)) {
              answer(socket, request).catch((error: unknown) => failures.push(error))
            }
          },
          drained: Promise.withResolvers(),
          closed: Promise.withResolvers(),
        }
      },
      data(socket, bytes) {
        if (bytes[0] === TLS_HANDSHAKE) socket.end(PLAIN_HTTP_ONLY)
        else socket.data.read(bytes)
      },
      drain: socket => socket.data.drained.resolve(),
      error: (_socket, error) => void failures.push(error),
      close(socket) {
        sockets.delete(socket)
        socket.data.drained.resolve()
        socket.data.closed.resolve()
      },
    },
  })

  return {
    baseUrl: `http://127.0.0.1:${listener.port}/v1`,
    requests,
    get connections() {
      return connections
    },
    reply: (...next) => void replies.splice(0, replies.length, ...next),
    hold() {
      const holder = Promise.withResolvers<Exchange>()
      held.push(holder)
      return holder.promise
    },
    close() {
      listener.stop(true)
      for (const socket of sockets) socket.terminate()
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** A base URL at which nothing listens: its port is below those that the system gives to servers that ask for any. */
export function refusedUrl(): string {
  return 'http://127.0.0.1:2/v1'
}

function exchangeOn(socket: Socket<Connection>, request: RecordedRequest): Exchange {
  let written = 0
  return {
    request,
    get written() {
      return written
    },
    async write(bytes) {
      let rest: Uint8Array = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
      while (rest.length > 0 && socket.readyState === 1) {
        socket.data.drained = Promise.withResolvers()
        const taken = socket.write(rest)
        if (taken < 0) return
        written += taken
        rest = rest.subarray(taken)
        if (rest.length > 0) await socket.data.drained.promise
      }
    },
    end: () => void socket.end(),
    reset: () => socket.terminate(),
    closed: socket.data.closed.promise,
  }
}
