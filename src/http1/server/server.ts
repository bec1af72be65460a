import { GatewayError } from '../../domain/errors.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import { answer, type Edge, type Endpoint } from '../../http/endpoint.ts'
import { plainReplies } from '../../http/reply-style.ts'
import { routeTable, type FindEndpoint, type Route } from '../../http/routes.ts'
import { RunningRequests } from '../../http/running-requests.ts'
import { Connection, type Host } from './connection.ts'
import { unreadRequest, type ServerRequest } from './server-request.ts'

export type ServerOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly routes: readonly Route[]
  readonly edge: Omit<Edge, 'running'> & { readonly clock: Clock }
  readonly connectionsMax?: number
}

export type RunningServer = {
  readonly url: string
  /** Takes no new request and resolves when the running ones have ended, those of clients that have left too. */
  drain(): Promise<void>
  /** Breaks every connection, which ends every stream. Resolves when all that ran has ended. */
  abort(): Promise<void>
}

/** Each costs a few kilobytes even if it never says a word. */
const CONNECTIONS_MAX = 16_384
const SWEEP_MS = 1000

/** Listens. Throws what the system says where it cannot: the address is taken, or not this machine's. */
export function startServer({
  host,
  port,
  routes,
  edge,
  connectionsMax = CONNECTIONS_MAX,
}: ServerOptions): RunningServer {
  const server = new Server(routeTable(routes), { connectionsMax, ...edge })
  const listener = listen(host, port, server)
  const authority = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${authority}:${listener.port}`,
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

function listen(host: string, port: number, server: Server): Bun.TCPSocketListener<Connection> {
  try {
    return Bun.listen<Connection>({
      hostname: host,
      port,
      socket: {
        open: socket => server.open(socket),
        data: (socket, bytes) => socket.data.onData(bytes),
        drain: socket => socket.data.onDrain(),
        close: socket => socket.data.onClose(),
        error: (socket, error) => server.onFailure(socket.data, error),
      },
    })
  } catch (error) {
    server.end()
    // A host name that cannot be looked up comes without it.
    throw Object.assign(error as Error, { syscall: 'listen' })
  }
}

class Server implements Host {
  tick = 0
  date: string
  isStopping = false
  readonly #find: FindEndpoint
  readonly #edge: Edge
  readonly #clock: Clock
  readonly #connections = new Set<Connection>()
  readonly #running = new RunningRequests()
  readonly #connectionsMax: number
  #stopSweeping: () => void
  #whenEmpty: PromiseWithResolvers<void> | undefined

  constructor(
    find: FindEndpoint,
    { clock, connectionsMax, ...edge }: ServerOptions['edge'] & { readonly connectionsMax: number },
  ) {
    this.#find = find
    this.#edge = { ...edge, running: this.#running }
    this.#clock = clock
    this.#connectionsMax = connectionsMax
    this.date = dateOf(clock)
    this.#stopSweeping = clock.after(SWEEP_MS, this.#sweep)
  }

  open(socket: Bun.Socket<Connection>): void {
    socket.setNoDelay(true)
    const connection = (socket.data = new Connection(socket, this))
    this.#connections.add(connection)
    if (this.#connections.size > this.#connectionsMax) this.#makeRoom(connection)
  }

  serve(request: ServerRequest, refusal?: Error): void {
    const { method, path } = request.head
    void answer(request, refusal === undefined ? this.#find(method, path) : refusing(refusal), this.#edge)
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection)
    if (this.#connections.size === 0) this.#whenEmpty?.resolve()
  }

  /** A bug of ours, which must not cost more than this connection. */
  onFailure(connection: Connection, error: Error): void {
    connection.cut()
    this.serve(unreadRequest(connection), error)
  }

  async drain(): Promise<void> {
    this.isStopping = true
    for (const connection of this.#connections) {
      if (!connection.isBusy) connection.close()
    }
    await this.#ended()
  }

  async abort(): Promise<void> {
    this.isStopping = true
    for (const connection of this.#connections) connection.cut()
    await this.#ended()
  }

  /** Of those that run no request, the one that was opened first gives way, or else the new one. */
  #makeRoom(latest: Connection): void {
    for (const connection of this.#connections) {
      if (!connection.isBusy && connection !== latest) return connection.close()
    }
    latest.refuse(
      new GatewayError('unavailable', 'The gateway has too many connections.', { retryAfterS: '1' }),
    )
  }

  async #ended(): Promise<void> {
    if (this.#connections.size > 0) {
      this.#whenEmpty ??= Promise.withResolvers()
      await this.#whenEmpty.promise
    }
    await this.#running.idle()
    this.end()
  }

  /** Looks at the clock no more. */
  end(): void {
    this.#stopSweeping()
  }

  readonly #sweep = () => {
    this.tick += 1
    this.date = dateOf(this.#clock)
    for (const connection of this.#connections) {
      if (connection.deadlineTick <= this.tick) connection.onDeadline()
    }
    this.#stopSweeping = this.#clock.after(SWEEP_MS, this.#sweep)
  }
}

function dateOf(clock: Clock): string {
  return new Date(clock.now()).toUTCString()
}

function refusing(error: Error): Endpoint {
  const handle = () => {
    throw error
  }
  return { route: 'none', handle, style: plainReplies }
}
