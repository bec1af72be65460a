import { endpoint, type Edge } from './endpoint.ts'
import { notRouted, type Route } from './routes.ts'
import { RunningRequests } from './running-requests.ts'

export type ServerOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly routes: readonly Route[]
  readonly edge: Omit<Edge, 'running'>
}

export type RunningServer = {
  readonly url: string
  /** Takes no new request and resolves when the running ones have ended, those of clients that have left too. */
  drain(): Promise<void>
  /** Breaks every connection, which ends every stream. Resolves when all that ran has ended. */
  abort(): Promise<void>
}

/** None: every route that reads a body has a limit of its own, and the runtime's 413 would be empty. */
const BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER

/** Listens. Throws what the system says where it cannot: the address is taken, or not this machine's. */
export function startServer({ host, port, routes, edge: given }: ServerOptions): RunningServer {
  const running = new RunningRequests()
  const edge = { ...given, running }
  const table = Object.fromEntries(
    routes.map(({ path, name, methods, style }) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, handle]) => [method, endpoint(name, handle, edge, style)]),
      ),
    ]),
  )
  const server = Bun.serve({
    hostname: host,
    port,
    // The runtime's idle limit also ends long silent streams; every wait of ours has its own timer.
    idleTimeout: 0,
    maxRequestBodySize: BODY_BYTES_MAX,
    routes: table,
    fetch: endpoint('none', notRouted(routes), edge),
  })
  const authority = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${authority}:${server.port}`,
    drain: async () => {
      await server.stop()
      await running.idle()
    },
    abort: async () => {
      await server.stop(true)
      await running.idle()
    },
  }
}
