import { onSocketData, onSocketEvent, type Receiver } from '../socket-polls.ts'
import type { Timer, Timers } from '../timers.ts'
import type { Exchange, Transport } from './exchange.ts'
import { clientError, socketError, type ClientError } from './client-error.ts'
import type { Origin } from './http-request.ts'

export type ClientSocket = Bun.Socket<SocketOwner>

/** The receiver of socket events: the opening of the connection first, then the connection. */
export interface SocketOwner extends Receiver {
  /** TCP is connected. The TLS handshake, if any, comes after it. */
  onOpen?(socket: ClientSocket): void
  /** The TLS handshake has ended, successfully unless there is a `problem`. */
  onHandshake?(problem: Error | undefined): void
  onDrain(): void
  onClose(error: Error | undefined): void
  onError(error: ClientError): void
}

/**
 * The runtime cannot call back a TCP connect. One that was given up continues until the operating system ends it, after
 * about two minutes. While an origin has this many, another one fails at once.
 */
const GIVEN_UP_MAX = 256

/** Opens connections, each within a limit. */
export class ConnectionOpener {
  readonly #timers: Timers
  /** By origin: connects that were given up and still run. */
  readonly #givenUp = new Map<string, number>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /**
   * Resolves when TCP, and TLS if the origin uses it, is connected. Rejects with `CONNECT_TIMEOUT` after `timeoutMs`,
   * and if the exchange is cancelled. Nothing has been sent by then.
   */
  open(origin: Origin, timeoutMs: number, exchange: Exchange): Promise<ClientSocket> {
    if ((this.#givenUp.get(origin.key) ?? 0) >= GIVEN_UP_MAX)
      return Promise.reject(clientError('CONNECT_TIMEOUT'))
    const opening = new Opening(origin, this.#timers, isWaiting =>
      this.#countGivenUp(origin, isWaiting ? 1 : -1),
    )
    const opened = opening.start(timeoutMs)
    exchange.attach(opening)
    return opened
  }

  #countGivenUp({ key }: Origin, change: number): void {
    const count = (this.#givenUp.get(key) ?? 0) + change
    if (count > 0) this.#givenUp.set(key, count)
    else this.#givenUp.delete(key)
  }
}

class Opening implements SocketOwner, Transport, Timer {
  expiresAtMs = Infinity
  readonly #origin: Origin
  readonly #timers: Timers
  /** Called when a connect that was given up continues to run, and when it ends. */
  readonly #onGivenUp: (goesOn: boolean) => void
  readonly #opened = Promise.withResolvers<ClientSocket>()
  #socket: ClientSocket | undefined
  /** Until the runtime says how the TCP connect went. */
  #isConnecting = true
  #isGivenUp = false
  #isOver = false

  constructor(origin: Origin, timers: Timers, onGivenUp: (goesOn: boolean) => void) {
    this.#origin = origin
    this.#timers = timers
    this.#onGivenUp = onGivenUp
  }

  start(timeoutMs: number): Promise<ClientSocket> {
    this.expiresAtMs = this.#timers.now() + timeoutMs
    this.#timers.start(this)
    void this.#connect()
    return this.#opened.promise
  }

  onOpen(socket: ClientSocket): void {
    this.#isConnecting = false
    this.#socket = socket
    if (this.#isOver) {
      socket.terminate()
      return
    }
    socket.setNoDelay(true)
    if (!this.#origin.isTls) this.#succeed(socket)
  }

  onHandshake(problem: Error | undefined): void {
    if (problem !== undefined) this.#fail(socketError(problem))
    else if (this.#socket !== undefined) this.#succeed(this.#socket)
  }

  onData(): void {
    this.#fail(clientError('UNSOLICITED_DATA'))
  }

  onFault(error: unknown): void {
    this.#fail(socketError(error))
  }

  onDrain(): void {}

  onClose(error: Error | undefined): void {
    this.#fail(socketError(error))
  }

  onError(error: ClientError): void {
    this.#fail(error)
  }

  onExpired(): void {
    this.#fail(clientError('CONNECT_TIMEOUT'))
  }

  pause(): void {}

  resume(): void {}

  abandon(): void {
    this.#fail(clientError('ABORT_ERR'))
  }

  async #connect(): Promise<void> {
    const { address, port, isTls, serverName } = this.#origin
    const tls = { rejectUnauthorized: true, ...(serverName === undefined ? {} : { serverName }) }
    const options = { hostname: address, port, data: this, socket: handlers }
    try {
      await Bun.connect<SocketOwner>(isTls ? { ...options, tls } : options)
      this.#isConnecting = false
    } catch (error) {
      this.#isConnecting = false
      this.#fail(socketError(error))
    }
    if (this.#isGivenUp) this.#onGivenUp(false)
  }

  #succeed(socket: ClientSocket): void {
    if (this.#isOver) return
    this.#end()
    this.#opened.resolve(socket)
  }

  #fail(error: ClientError): void {
    if (this.#isOver) return
    this.#end()
    this.#opened.reject(error)
    this.#isGivenUp = this.#isConnecting
    if (this.#isGivenUp) this.#onGivenUp(true)
    this.#socket?.terminate()
  }

  #end(): void {
    this.#isOver = true
    this.#timers.stop(this)
  }
}

/** One set for all sockets: each knows its owner. */
const handlers: Bun.SocketHandler<SocketOwner> = {
  open(socket) {
    onSocketEvent()
    socket.data.onOpen?.(socket)
  },
  handshake(socket, isTrusted, problem) {
    onSocketEvent()
    socket.data.onHandshake?.(isTrusted ? undefined : (problem ?? clientError('ERR_TLS_CERT_INVALID')))
  },
  data: (socket, bytes) => onSocketData(socket.data, bytes as Buffer<ArrayBuffer>),
  drain(socket) {
    onSocketEvent()
    socket.data.onDrain()
  },
  close(socket, error) {
    onSocketEvent()
    socket.data.onClose(error)
  },
  error(socket, error) {
    onSocketEvent()
    socket.data.onError(socketError(error))
  },
}
