import type { ByteStream } from '../byte-stream.ts'
import type { Timer } from '../timers.ts'
import type { ConnectionPool } from './connection-pool.ts'
import type { Exchange, Transport } from './exchange.ts'
import { clientError, socketError, type ClientError } from './client-error.ts'
import type { HttpRequest, Origin } from './http-request.ts'
import type { ClientSocket, SocketOwner } from './open-connection.ts'
import {
  isStreamBody,
  uploadStream,
  writeRequest,
  type OutgoingBody,
  type StreamBody,
} from './outgoing-body.ts'
import { ResponseReader } from './response-reader.ts'
import { currentPoll } from '../socket-polls.ts'
import { SocketWriter } from '../socket-writer.ts'

/** An open connection to a server, which carries one exchange at a time. */
export class ClientConnection implements Transport, SocketOwner, Timer {
  /** When it is closed if it stays idle. */
  expiresAtMs = Infinity
  readonly origin: Origin
  readonly #socket: ClientSocket
  readonly #pool: ConnectionPool
  readonly #writer: SocketWriter
  #reader = new ResponseReader('GET')
  #exchange: Exchange | undefined
  /** The poll of the sockets whose callbacks ran when the request was written. */
  #sentInPoll: number | undefined
  /** Whether another request may use the connection after this one. */
  #isReused = false
  #upload: ByteStream | undefined
  #isPaused = false
  #isClosed = false

  constructor(origin: Origin, socket: ClientSocket, pool: ConnectionPool) {
    this.origin = origin
    this.#socket = socket
    this.#pool = pool
    this.#writer = new SocketWriter(socket)
  }

  /**
   * Sends a request, whose response goes to the exchange. False if the server has closed the connection, so that
   * nothing was written: then another connection can carry the request.
   */
  send(exchange: Exchange, request: HttpRequest, body: OutgoingBody | undefined): boolean {
    this.#exchange = exchange
    this.#isReused = request.reusesConnection
    this.#reader = new ResponseReader(request.method)
    this.#sentInPoll = currentPoll()
    exchange.attach(this)
    const takenBefore = this.#writer.taken
    writeRequest(request, body, this.#writer)
    if (this.#writer.isClosed && this.#writer.taken === takenBefore) {
      this.abandon()
      return false
    }
    if (isStreamBody(body)) void this.#uploadBody(body)
    return true
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  abandon(): void {
    this.#exchange = undefined
    this.#close(clientError('ABORT_ERR'))
    this.#socket.terminate()
  }

  /** It was idle for too long. */
  onExpired(): void {
    this.abandon()
  }

  onDrain(): void {
    this.#writer.onDrain()
  }

  onData(bytes: Buffer<ArrayBuffer>): void {
    const exchange = this.#exchange
    // It belongs to no request, and would be read as the response to the next one.
    if (exchange === undefined) return this.abandon()
    // The poll that found these bytes came before the request was written.
    if (this.#sentInPoll !== undefined && this.#sentInPoll === currentPoll())
      return this.onError(clientError('UNSOLICITED_DATA'))
    const progress = this.#reader.feed(bytes, exchange)
    // The exchange may have been cancelled meanwhile.
    if (progress === 'more' || this.#exchange !== exchange) return
    if (progress === 'malformed_head') return this.onError(clientError('Malformed_HTTP_Response'))
    if (progress === 'malformed_body') return this.onError(clientError('InvalidHTTPResponse'))
    this.#exchange = undefined
    if (progress === 'surplus' || !this.#becomesIdle()) this.abandon()
    exchange.onEnd()
  }

  onFault(error: unknown): void {
    this.onError(socketError(error))
  }

  onClose(error: Error | undefined): void {
    const failure = socketError(error)
    this.#close(failure)
    const exchange = this.#exchange
    this.#exchange = undefined
    if (error === undefined && this.#reader.endsWithConnection) exchange?.onEnd()
    else exchange?.fail(failure)
  }

  /** Closes the connection, and fails the exchange. */
  onError(failure: ClientError): void {
    const exchange = this.#exchange
    this.abandon()
    exchange?.fail(failure)
  }

  async #uploadBody(body: StreamBody): Promise<void> {
    this.#upload = body.stream
    try {
      await uploadStream(body, this.#writer)
      this.#upload = undefined
    } catch (error) {
      this.onError(socketError(error))
    }
  }

  /** A response that came before its request was sent leaves a connection in an unknown state. */
  #becomesIdle(): boolean {
    const isSent = this.#writer.isDrained && this.#upload === undefined
    if (!isSent || !this.#isReused || !this.#reader.isReusable) return false
    // The last piece may have paused it.
    this.resume()
    return this.#pool.keep(this, this.#reader.idleMs)
  }

  #close(failure: ClientError): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#pool.remove(this)
    this.#writer.close(failure)
    this.#upload?.cancel()
    this.#upload = undefined
  }
}
