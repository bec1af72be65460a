import { onSocketData, onSocketEvent } from '../socket-polls.ts'
import { systemClock } from '../system-clock.ts'
import { HttpError } from './http-error.ts'
import { CONNECTIONS_MAX, DEFAULT_TIMEOUTS, TICK_MS, type ConnectionTimeouts } from './limits.ts'
import { ReadTurns } from './read-turns.ts'
import { ServerConnection, type ConnectionServer } from './server-connection.ts'
import { unreadRequest, type ServerRequest } from './server-request.ts'

export type ServerOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly handler: RequestHandler
  /** Called when the handler rejects, which is a bug. A request without a response gets a 500. */
  readonly onHandlerError: (error: unknown) => void
  /** The default is the clock of the system. */
  readonly clock?: ServerClock
  readonly connectionsMax?: number
  /** The others are the defaults. */
  readonly timeouts?: Partial<ConnectionTimeouts>
}

/** Each method responds to its request, and resolves when all work for the request has ended. */
export interface RequestHandler {
  handle(request: ServerRequest): Promise<void>
  /**
   * Answers for a request that could not be read, or for a refused connection, with an `HttpError`. Any other error is
   * a fault of the server, and its connection is closed already.
   */
  refuse(request: ServerRequest, error: Error): Promise<void>
}

export type ServerClock = {
  /** Milliseconds since 1970, for `date` headers. */
  now(): number
  /** Calls `then` once after `delayMs`, unless the returned function is called first. */
  after(delayMs: number, then: () => void): () => void
}

export type RunningServer = {
  readonly url: string
  /** The number of requests whose work has not ended. */
  readonly runningRequests: number
  /**
   * Takes no new request. Resolves when the running ones have ended, including those of clients that have disconnected.
   */
  drain(): Promise<void>
  /** Breaks all connections. Resolves when all running requests have ended. */
  abort(): Promise<void>
}

/** Starts a server. Throws the error of the system when the address is in use or not available. */
export function startServer({ host, port, ...options }: ServerOptions): RunningServer {
  const server = new Server(options)
  const listener = listen(host, port, server)
  server.start()
  const authority = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${authority}:${listener.port}`,
    get runningRequests() {
      return server.runningRequests
    },
    drain: () => {
      listener.stop()
      return server.drain()
    },
    abort: () => {
      listener.stop()
      return server.abort()
    },
  }
}

function listen(host: string, port: number, server: Server): Bun.TCPSocketListener<ServerConnection> {
  try {
    return Bun.listen<ServerConnection>({
      hostname: host,
      port,
      socket: {
        open(socket) {
          onSocketEvent()
          server.onOpen(socket)
        },
        data: (socket, bytes) => onSocketData(socket.data, bytes as Buffer<ArrayBuffer>),
        drain(socket) {
          onSocketEvent()
          socket.data.onDrain()
        },
        close(socket) {
          onSocketEvent()
          socket.data.onClose()
        },
        error: (socket, error) => server.onFailure(socket.data, error),
      },
    })
  } catch (error) {
    // The error for an unknown host name has no `syscall`.
    throw Object.assign(error as Error, { syscall: 'listen' })
  }
}

/** The connections of a server, and their deadlines. */
class Server implements ConnectionServer {
  tick = 0
  date: string
  isStopping = false
  readonly timeouts: ConnectionTimeouts
  readonly readTurns = new ReadTurns()
  readonly #options: Required<Omit<ServerOptions, 'host' | 'port' | 'timeouts'>>
  readonly #connections = new Set<ServerConnection>()
  runningRequests = 0
  #cancelTick = () => {}
  #whenEmpty: PromiseWithResolvers<void> | undefined

  constructor({ timeouts, ...options }: Omit<ServerOptions, 'host' | 'port'>) {
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...timeouts }
    this.#options = { connectionsMax: CONNECTIONS_MAX, clock: systemClock, ...options }
    this.date = dateOf(this.#options.clock)
  }

  start(): void {
    this.#cancelTick = this.#options.clock.after(TICK_MS, this.#onTick)
  }

  onOpen(socket: Bun.Socket<ServerConnection>): void {
    socket.setNoDelay(true)
    const connection = (socket.data = new ServerConnection(socket, this))
    this.#connections.add(connection)
    if (this.#connections.size > this.#options.connectionsMax) this.#makeRoomFor(connection)
  }

  onRequest(request: ServerRequest): void {
    this.#onStarted(request, this.#options.handler.handle(request))
  }

  onRefused(request: ServerRequest, error: Error): void {
    this.#onStarted(request, this.#options.handler.refuse(request, error))
  }

  onClosed(connection: ServerConnection): void {
    this.#connections.delete(connection)
    this.#checkEmpty()
  }

  /** A fault of the server or of a streamed response. It closes this connection and no other. */
  onFailure(connection: ServerConnection, error: Error): void {
    connection.cut()
    this.onRefused(unreadRequest(connection), error)
  }

  async drain(): Promise<void> {
    this.isStopping = true
    for (const connection of this.#connections) if (!connection.isBusy) connection.close()
    await this.#ended()
  }

  async abort(): Promise<void> {
    this.isStopping = true
    for (const connection of this.#connections) connection.cut()
    await this.#ended()
  }

  /** Closes the oldest connection without a running request. If all have one, refuses the new connection. */
  #makeRoomFor(latest: ServerConnection): void {
    for (const connection of this.#connections) {
      if (!connection.isBusy && connection !== latest) return connection.close()
    }
    latest.refuse(new HttpError('too_many_connections', 'The server has too many connections.'))
  }

  /** A request may run longer than its connection. */
  #onStarted(request: ServerRequest, answered: Promise<void>): void {
    this.runningRequests += 1
    answered.then(this.#onAnswered, (error: unknown) => {
      request.respond({ status: 500, headers: { connection: 'close' }, body: null })
      this.#options.onHandlerError(error)
      this.#onAnswered()
    })
  }

  readonly #onAnswered = () => {
    this.runningRequests -= 1
    this.#checkEmpty()
  }

  async #ended(): Promise<void> {
    this.#whenEmpty ??= Promise.withResolvers()
    this.#checkEmpty()
    await this.#whenEmpty.promise
    this.#cancelTick()
  }

  #checkEmpty(): void {
    if (this.#connections.size === 0 && this.runningRequests === 0) this.#whenEmpty?.resolve()
  }

  readonly #onTick = () => {
    this.tick += 1
    this.date = dateOf(this.#options.clock)
    for (const connection of this.#connections) {
      if (connection.deadlineTick <= this.tick) connection.onDeadline()
    }
    this.#cancelTick = this.#options.clock.after(TICK_MS, this.#onTick)
  }
}

function dateOf(clock: ServerClock): string {
  return new Date(clock.now()).toUTCString()
}
