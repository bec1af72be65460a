import { Arrived } from '../../event-loop/arrived.ts'
import type { ConnectionTurns } from '../../event-loop/connection-turns.ts'
import type { Timed } from '../../providers/deadlines.ts'
import type { Exchange, Line } from './exchange.ts'
import { httpFailure, socketFailure } from './http-failure.ts'
import type { HttpRequest, Origin } from './http-request.ts'
import type { IdleConnections } from './idle-connections.ts'
import { ResponseReader } from './response-reader.ts'

/**
 * Requests of up to so many characters are put together in memory that all connections share, and go out in one write: fresh memory
 * costs more. A character takes three bytes at most.
 */
const SCRATCH_CHARS = 64 * 1024
const HEAD_CHARS = 8 * 1024
/** Behind room for the head, whose end is the length of the body and a blank line. */
const BODY_AT = HEAD_CHARS + 32
const scratch = Buffer.allocUnsafeSlow(BODY_AT + 3 * SCRATCH_CHARS)

const HEAD_END = '\r\n\r\n'

export type ConnectionPorts = {
  readonly idle: IdleConnections
  readonly turns: ConnectionTurns<Connection>
}

/** One connection to a server, which carries one exchange at a time. */
export class Connection implements Line, Timed {
  /** Of its wait for the next request. */
  deadlineMs = Infinity
  place = -1
  readonly origin: Origin
  readonly #idle: IdleConnections
  readonly #turns: ConnectionTurns<Connection>
  #socket: Bun.Socket<Connection> | undefined
  #exchange: Exchange | undefined
  #reader = new ResponseReader()
  /** The exchange's request, until it is sent. */
  #next: { readonly request: HttpRequest; readonly body: string } | undefined
  /** What has come and was not looked at yet. */
  readonly #arrived = new Arrived()
  /** What of the request the socket has not taken yet. */
  #unsent: Buffer[] = []
  #isPaused = false
  #isClosed = false

  constructor(origin: Origin, { idle, turns }: ConnectionPorts) {
    this.origin = origin
    this.#idle = idle
    this.#turns = turns
  }

  /** Opens the socket for its first request; has every later one sent at the end of the turn. */
  start(exchange: Exchange, request: HttpRequest, body: string): void {
    this.#exchange = exchange
    exchange.onLine(this)
    this.#reader = new ResponseReader()
    if (this.#socket === undefined) {
      this.#unsent = requestBytes(request.head, body)
      open(this).catch((error: unknown) => this.onClose(error))
    } else {
      this.#next = { request, body }
      this.#turns.sends.add(this)
    }
  }

  /** Sends the request; where the connection has closed before that, another one does. */
  send(): void {
    // What has come by now is no answer to it, and closes the connection.
    this.takeArrived()
    const next = this.#next
    const exchange = this.#exchange
    this.#next = undefined
    if (next === undefined || exchange === undefined) return
    const { request, body } = next
    const socket = this.#socket
    if (this.#isClosed || socket === undefined) {
      this.#exchange = undefined
      new Connection(this.origin, { idle: this.#idle, turns: this.#turns }).start(exchange, request, body)
    } else if (body.length <= SCRATCH_CHARS && request.head.length <= HEAD_CHARS) {
      this.#sendAtOnce(socket, request.head, body)
    } else {
      this.#unsent = requestBytes(request.head, body)
      this.onDrain()
    }
  }

  /** The body first, which tells its length, and the head right before it. */
  #sendAtOnce(socket: Bun.Socket<Connection>, start: string, body: string): void {
    const bodyLength = scratch.write(body, BODY_AT)
    const head = headOf(start, bodyLength)
    const from = BODY_AT - head.length
    scratch.write(head, from, 'latin1')
    const size = head.length + bodyLength
    const taken = Math.max(0, socket.write(scratch, from, size))
    if (taken < size) this.#unsent = [Buffer.from(scratch.subarray(from + taken, from + size))]
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket?.resume()
  }

  abandon(): void {
    this.#exchange = undefined
    this.#close()
  }

  #close(): void {
    this.#isClosed = true
    this.#arrived.take()
    this.#idle.forget(this)
    this.#socket?.terminate()
  }

  onDeadline(): void {
    this.abandon()
  }

  /** The socket is there; with TLS, its handshake is yet to come. */
  onOpen(socket: Bun.Socket<Connection>): void {
    if (this.#isClosed) {
      socket.terminate()
      return
    }
    this.#socket = socket
    socket.setNoDelay(true)
    if (!this.origin.isTls) this.onDrain()
  }

  onHandshake(problem: Error | undefined): void {
    if (problem === undefined) this.onDrain()
    else this.fail(socketFailure(problem))
  }

  /** Sends what the socket takes; the rest follows when it has drained. */
  onDrain(): void {
    while (this.#socket !== undefined) {
      const [next] = this.#unsent
      if (next === undefined) return
      const taken = this.#socket.write(next)
      // It has closed, and its end is about to be told.
      if (taken < 0) return
      if (taken < next.length) {
        this.#unsent[0] = next.subarray(taken)
        return
      }
      this.#unsent.shift()
    }
  }

  onData(bytes: Buffer): void {
    const isFirst = this.#arrived.push(bytes)
    if (this.#arrived.isMuch) this.#turns.arrivals.handleNow(this)
    else if (isFirst) this.#turns.arrivals.add(this)
  }

  takeArrived(): void {
    const bytes = this.#arrived.take()
    if (bytes === undefined) return
    const exchange = this.#exchange
    // Nobody has asked yet, so it could only be taken for the answer to the next request.
    if (exchange === undefined || this.#next !== undefined) return this.#close()
    const progress = this.#reader.feed(bytes, exchange)
    // The exchange may have had enough of it meanwhile.
    if (progress === 'more' || this.#exchange !== exchange) return
    if (progress === 'malformed_head') return this.fail(httpFailure('Malformed_HTTP_Response'))
    if (progress === 'malformed_body') return this.fail(httpFailure('InvalidHTTPResponse'))
    this.#exchange = undefined
    // An answer that came before the request was sent whole leaves a connection of which nobody knows what it carries.
    const isClean = progress === 'whole' && this.#reader.isKept && this.#unsent.length === 0
    if (!isClean || !this.#wait()) this.abandon()
    exchange.onEnd()
  }

  /** It has closed, by itself or by the server, or could not be opened. What came before that is taken before. */
  onClose(error: unknown): void {
    this.takeArrived()
    this.#isClosed = true
    this.#idle.forget(this)
    const exchange = this.#exchange
    if (exchange === undefined || this.#next !== undefined) return
    this.#exchange = undefined
    if (error === undefined && this.#reader.endsWithConnection) exchange.onEnd()
    else exchange.onFailed(socketFailure(error))
  }

  /** Closes it, and says so to the exchange. */
  fail(failure: Error): void {
    const exchange = this.#exchange
    this.abandon()
    exchange?.onFailed(failure)
  }

  /** For the next request. */
  #wait(): boolean {
    // Its last piece may have been the one that was too much.
    this.resume()
    return this.#idle.keep(this)
  }
}

/** One set for all connections: each socket knows its own. */
const handlers: Bun.SocketHandler<Connection> = {
  open: socket => socket.data.onOpen(socket),
  handshake: (socket, isTrusted, problem) =>
    socket.data.onHandshake(isTrusted ? undefined : (problem ?? httpFailure('ERR_TLS_CERT_INVALID'))),
  data: (socket, bytes) => socket.data.onData(bytes),
  drain: socket => socket.data.onDrain(),
  close: (socket, error) => socket.data.onClose(error),
  error: (socket, error) => socket.data.fail(socketFailure(error)),
}

async function open(connection: Connection): Promise<void> {
  const { hostname, port, isTls } = connection.origin
  const tls = isTls ? { tls: tlsOptions(connection.origin) } : {}
  await Bun.connect<Connection>({ hostname, port, ...tls, data: connection, socket: handlers })
}

/** The certificate is checked against the name, or against the address itself, which TLS does not let a client name. */
function tlsOptions({ hostname, isAddress }: Origin): Bun.TLSOptions {
  return { rejectUnauthorized: true, ...(isAddress ? {} : { serverName: hostname }) }
}

/** Together where one packet, or a few, can carry them. */
function requestBytes(start: string, body: string): Buffer[] {
  const bytes = Buffer.from(body)
  const parts = [Buffer.from(headOf(start, bytes.length), 'latin1'), bytes]
  return body.length <= SCRATCH_CHARS ? [Buffer.concat(parts)] : parts
}

function headOf(start: string, bodyLength: number): string {
  return `${start}${bodyLength}${HEAD_END}`
}
