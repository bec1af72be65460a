import type { Socket, TCPSocketListener } from 'bun'

/** What a proxy does with the bytes of one direction. Held bytes arrive when the direction is open again. */
type Flow = 'open' | 'held' | 'lost'

type Client = { server: Socket | undefined; early: Buffer[] }

/** A TCP proxy in front of a server, whose two directions can be held or cut, like a network between two machines. */
export class Proxy {
  requests: Flow = 'open'
  answers: Flow = 'open'
  readonly #listener: TCPSocketListener<Client>
  readonly #sockets = new Set<{ terminate(): void }>()
  #held: (() => void)[] = []

  private constructor(listen: (proxy: () => Proxy) => TCPSocketListener<Client>) {
    this.#listener = listen(() => this)
  }

  /** Listens on a free port for the server of a URL. */
  static to(url: string): Proxy {
    const { hostname, port } = new URL(url)
    return new Proxy(proxy =>
      Bun.listen<Client>({
        hostname: '127.0.0.1',
        port: 0,
        socket: {
          open(client) {
            client.data = { server: undefined, early: [] }
            proxy().#connect(client, { hostname, port: Number(port) })
          },
          data: (client, bytes) => {
            const copy = Buffer.from(bytes)
            proxy().#pass('requests', () => {
              if (client.data.server === undefined) client.data.early.push(copy)
              else client.data.server.write(copy)
            })
          },
          close: client => void client.data.server?.end(),
        },
      }),
    )
  }

  /** The URL of a database, through the proxy. */
  url(of: string): string {
    const url = new URL(of)
    url.port = String(this.#listener.port)
    return url.href
  }

  /** Opens both directions, and sends what was held. */
  heal(): void {
    this.requests = 'open'
    this.answers = 'open'
    for (const send of this.#held.splice(0)) send()
  }

  /** Closes all connections. Later ones are served. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate()
    this.#sockets.clear()
    this.#held = []
  }

  stop(): void {
    this.cut()
    this.#listener.stop(true)
  }

  #connect(client: Socket<Client>, to: { readonly hostname: string; readonly port: number }): void {
    this.#sockets.add(client)
    const connected = Bun.connect({
      ...to,
      socket: {
        open: server => {
          this.#sockets.add(server)
          client.data.server = server
          for (const bytes of client.data.early.splice(0)) server.write(bytes)
        },
        data: (_, bytes) => {
          const copy = Buffer.from(bytes)
          this.#pass('answers', () => void client.write(copy))
        },
        close: () => void client.end(),
      },
    })
    connected.catch(() => client.terminate())
  }

  #pass(direction: 'requests' | 'answers', send: () => void): void {
    if (this[direction] === 'open') send()
    else if (this[direction] === 'held') this.#held.push(send)
  }
}
