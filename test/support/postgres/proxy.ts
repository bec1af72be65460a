import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** What a proxy does with the bytes of one direction. Held bytes arrive when the direction is open again. */
type Flow = 'open' | 'slow' | 'held' | 'lost'

/** Longer than the part of a statement by which it is found. */
const STATEMENT_CHARACTERS_MAX = 4000
/** By how much slow bytes are late. */
const SLOW_MS = 150

/** A TCP proxy in front of a server, whose two directions can be held or cut, like a network between two machines. */
export class Proxy {
  requests: Flow = 'open'
  answers: Flow = 'open'
  /** Requests are held from the piece that completes this text on one connection. */
  holdFrom: RegExp | undefined
  /** How often bytes were lost. */
  lost = 0
  readonly #listener: Server
  readonly #sockets = new Set<Socket>()
  /** The connections to the server, until the server has closed them, too. */
  readonly #toServer = new Set<Promise<unknown>>()
  #held: (() => void)[] = []

  private constructor(to: { readonly host: string; readonly port: number }) {
    // Bun listens at once, so the port is known.
    this.#listener = createServer(client => this.#connect(client, to)).listen(0, '127.0.0.1')
  }

  /** Listens on a free port for the server of a URL. */
  static to(url: string): Proxy {
    const { hostname: host, port } = new URL(url)
    return new Proxy({ host, port: Number(port) })
  }

  /** The URL of a database, through the proxy. */
  url(of: string): string {
    const url = new URL(of)
    url.port = String((this.#listener.address() as AddressInfo).port)
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
    for (const socket of this.#sockets) socket.destroy()
    this.#held = []
  }

  /** Resolves when no connection is open. The server closes one only after the statement that it works on. */
  async quiet(): Promise<void> {
    while (this.#toServer.size > 0) await Promise.all(this.#toServer)
  }

  stop(): void {
    this.#listener.close()
    this.cut()
  }

  #connect(client: Socket, to: { readonly host: string; readonly port: number }): void {
    const server = connect(to)
    const closed = new Promise<void>(resolve => server.on('close', () => resolve()))
    void closed.then(() => this.#toServer.delete(closed))
    this.#toServer.add(closed)
    let received = ''
    client.on('data', bytes => {
      if (this.holdFrom === undefined) return
      received = received.slice(-STATEMENT_CHARACTERS_MAX) + bytes.toString('latin1')
      if (this.holdFrom.test(received)) this.requests = 'held'
    })
    for (const [socket, other, direction] of [
      [client, server, 'requests'],
      [server, client, 'answers'],
    ] as const) {
      this.#sockets.add(socket)
      socket.setNoDelay()
      socket.on('data', bytes => this.#pass(direction, () => void other.write(bytes)))
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.end()
      })
      // It is closed after an error.
      socket.on('error', () => undefined)
    }
  }

  #pass(direction: 'requests' | 'answers', send: () => void): void {
    const flow = this[direction]
    if (flow === 'open') send()
    if (flow === 'lost') this.lost += 1
    if (flow === 'held' || flow === 'slow') this.#held.push(send)
    // Those before it were held for as long, and none is sent twice.
    if (flow === 'slow') setTimeout(() => this.#held.shift()?.(), SLOW_MS)
  }
}
