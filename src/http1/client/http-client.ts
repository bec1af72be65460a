import type { OwnedByteStream } from '../byte-stream.ts'
import type { Timers } from '../timers.ts'
import type { HeaderFields } from '../wire/header-fields.ts'
import { ClientConnection } from './client-connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { Exchange } from './exchange.ts'
import { clientError, socketError } from './client-error.ts'
import type { HttpRequest } from './http-request.ts'
import { ConnectionOpener } from './open-connection.ts'
import { isStreamBody, type OutgoingBody } from './outgoing-body.ts'

/** Sends requests to http and https servers, and keeps connections for later requests. */
export interface HttpClient {
  /**
   * Sends one request, once: if its connection breaks, the request fails and is not sent again. Only if nothing of it
   * could be written to a kept connection, another one is used. Resolves when the head of the response has come; any
   * status is a response, and redirects are not followed. This and reads of the response reject with an `ClientError`.
   *
   * The response must be read to its end or cancelled. The stream of a body is read to its end or cancelled in any
   * case.
   */
  send(request: HttpRequest, options?: SendOptions): Promise<HttpResponse>
  /** Closes idle connections. Running requests end by themselves. */
  close(): void
}

export type SendOptions = {
  readonly body?: OutgoingBody
  /** Aborts the request, or its response, until that was read to its end. */
  readonly signal?: AbortSignalLike
  /** For TCP and TLS together; 5 seconds if absent. */
  readonly connectTimeoutMs?: number
  /** From the call to the end of the response; none if absent. */
  readonly timeoutMs?: number
  /** Called once, when a connection is there and the request is written to it. */
  readonly onSent?: () => void
}

/** The body of a response is read as it comes; what is not read slows the server, once about 32 KB are buffered. */
export interface HttpResponse extends OwnedByteStream {
  readonly status: number
  readonly headers: HeaderFields
  /** The length of the body as sent; undefined if the server does not declare it. */
  readonly contentLength: number | undefined
  /** The rest of the body. Cancels a response that is longer, and rejects with `RESPONSE_TOO_LARGE`. */
  readAll(bytesMax: number): Promise<Buffer>
  /** Like `readAll`, decoded. Undefined if the body is not UTF-8. */
  readText(bytesMax: number): Promise<string | undefined>
}

/** The part of `AbortSignal` that the client uses. */
export type AbortSignalLike = {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: AbortListener): void
  removeEventListener(type: 'abort', listener: AbortListener): void
}

/** An object, so that each request does not need a separate function. */
export type AbortListener = { handleEvent(): void }

/** Long enough for three lost packets and a TLS handshake across the world. */
const CONNECT_TIMEOUT_MS = 5000

/** A client on this thread. Bun's `fetch` works on another thread, and switching threads costs more than the work. */
export function httpClient(timers: Timers): HttpClient {
  const pool = new ConnectionPool(timers)
  const opener = new ConnectionOpener(timers)

  async function sendOnNewConnection(
    request: HttpRequest,
    options: SendOptions,
    exchange: Exchange,
  ): Promise<void> {
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
    try {
      const socket = await opener.open(request.origin, connectTimeoutMs, exchange)
      const connection = (socket.data = new ClientConnection(request.origin, socket, pool))
      if (exchange.failure !== undefined) {
        connection.abandon()
        throw exchange.failure
      }
      if (!sendOn(connection, request, options, exchange)) throw clientError('ECONNRESET')
    } catch (error) {
      giveUp(error, options, exchange)
    }
  }

  return {
    // Code that waits for the response keeps no reference to a body of text or bytes, which may be large.
    send(request, options = {}) {
      const exchange = new Exchange(timers, options.signal)
      try {
        exchange.start(options.timeoutMs)
        for (;;) {
          const idle = request.reusesConnection ? pool.take(request.origin) : undefined
          if (idle === undefined) void sendOnNewConnection(request, options, exchange)
          else if (!sendOn(idle, request, options, exchange)) continue
          break
        }
      } catch (error) {
        giveUp(error, options, exchange)
      }
      return exchange.response
    },
    close: () => pool.close(),
  }
}

/** False if nothing could be written, because the connection has closed. */
function sendOn(
  connection: ClientConnection,
  request: HttpRequest,
  { body, onSent }: SendOptions,
  exchange: Exchange,
): boolean {
  if (!connection.send(exchange, request, body)) return false
  onSent?.()
  exchange.onSent()
  return true
}

/** Ends a request that could not be sent. */
function giveUp(error: unknown, { body }: SendOptions, exchange: Exchange): void {
  if (isStreamBody(body)) body.stream.cancel()
  exchange.fail(socketError(error))
}
