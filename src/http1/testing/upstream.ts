import type { Socket } from 'bun'
import { answer } from './upstream-replies.ts'
import { requestReader, type RecordedRequest } from './upstream-request.ts'

/**
 * A server over real TCP whose replies a test sets. It writes raw bytes, so that it can misbehave in ways that no HTTP
 * server allows. See `upstream-replies.ts` for its replies.
 */
export type Upstream = {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** All requests so far, in order. */
  readonly requests: readonly RecordedRequest[]
  /** The number of connections that were opened. */
  readonly connections: number
  /** The number of connections that are open now. */
  readonly openConnections: number
  /** Sets the replies for the next requests, in this order. All later requests get the last one. */
  reply(...replies: readonly [Reply, ...Reply[]]): void
  /** Lets the test write the reply to the next request. Resolves when the request has arrived. */
  hold(): Promise<Exchange>
  /** Breaks all connections. Throws if a reply threw. */
  close(): void
}

/** One way to reply. The connection stays open unless the reply closes it. */
export type Reply = (exchange: Exchange) => void | Promise<void>

export type Exchange = {
  readonly request: RecordedRequest
  /**
   * Resolves when the kernel has accepted all bytes. Waits while the client does not read. Does nothing after a
   * disconnect.
   */
  write(bytes: string | Uint8Array): Promise<void>
  /** The number of bytes that the kernel has accepted. */
  readonly written: number
  /** Closes the connection normally (FIN). */
  end(): void
  /** Resets the connection (RST). */
  reset(): void
  /** Resolves when the connection is closed by either side. */
  readonly closed: Promise<void>
}

type Connection = {
  read(bytes: Uint8Array): void
  drained: PromiseWithResolvers<void>
  readonly closed: PromiseWithResolvers<void>
}

/** The first byte of a TLS client. It gets the reply of a real plain HTTP server. */
const TLS_HANDSHAKE = 0x16
const PLAIN_HTTP_ONLY = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

/** It gives the `first` reply until the test sets others. */
export function startUpstream(first: Reply = answer('Hello.')): Upstream {
  const requests: RecordedRequest[] = []
  const sockets = new Set<Socket<Connection>>()
  const replies: Reply[] = [first]
  const held: PromiseWithResolvers<Exchange>[] = []
  const failures: unknown[] = []
  let connections = 0

  const serve = async (socket: Socket<Connection>, request: RecordedRequest) => {
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
              serve(socket, request).catch((error: unknown) => failures.push(error))
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
    get openConnections() {
      return sockets.size
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

/** A base URL where nothing listens. Its port is below the range for automatic ports. */
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
