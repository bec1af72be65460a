import type { ByteStream, OwnedByteStream } from '../byte-stream.ts'
import type { Timers } from '../timers.ts'
import type { HeaderFields } from '../wire/header-fields.ts'
import { ClientConnection } from './client-connection.ts'
import { ClientResponse } from './client-response.ts'
import { ConnectionPool } from './connection-pool.ts'
import { Exchange } from './exchange.ts'
import { socketError, unsent } from './client-error.ts'
import type { HttpRequest } from './http-request.ts'
import { ConnectionOpener } from './open-connection.ts'
import { isStreamBody, type OutgoingBody } from './outgoing-body.ts'

/** Sends requests to http and https servers, and keeps connections for later requests. */
export interface HttpClient {
  /**
   * Sends one request, once: a connection that breaks under it is a failure, never a reason to send it again. Resolves
   * when the head of the response has come; any status is a response, and redirects are not followed. This and reads of
   * the response reject with an `ClientError`.
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
  /** The length of the body as sent; undefined where the server does not declare it. */
  readonly contentLength: number | undefined
  /** The rest of the body. Cancels a response that is longer, and rejects with `RESPONSE_TOO_LARGE`. */
  readAll(bytesMax: number): Promise<Buffer>
  /** As `readAll`, decoded. Undefined if the body is not UTF-8. */
  readText(bytesMax: number): Promise<string | undefined>
}

/** As much of an `AbortSignal` as the client uses. */
export type AbortSignalLike = {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Long enough for three lost packets and a TLS handshake across the world. */
export const CONNECT_TIMEOUT_MS = 5000

/** A client on this thread: Bun's `fetch` works on another one, and the way there and back costs more than the work. */
export function httpClient(timers: Timers): HttpClient {
  const pool = new ConnectionPool(timers)
  const opener = new ConnectionOpener(timers)

  /** Sends the request on an idle connection or on a new one. False where the exchange was cancelled before that. */
  async function transmit(request: HttpRequest, options: SendOptions, exchange: Exchange): Promise<boolean> {
    const { timeoutMs, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
    const { origin, reusesConnection } = request
    exchange.start(timeoutMs)
    const idle = reusesConnection ? pool.take(origin) : undefined
    if (idle !== undefined) return write(idle, request, options, exchange)
    const socket = await opener.open(origin, connectTimeoutMs, exchange)
    const connection = (socket.data = new ClientConnection(origin, socket, pool))
    if (exchange.failure === undefined) return write(connection, request, options, exchange)
    connection.abandon()
    return false
  }

  return {
    send(request, options = {}) {
      const exchange = new Exchange(timers, options.signal)
      const transmitted = transmit(request, options, exchange)
      return received(transmitted, exchange, isStreamBody(options.body) ? options.body.stream : undefined)
    },
    close: () => pool.close(),
  }
}

function write(
  connection: ClientConnection,
  request: HttpRequest,
  { body, onSent }: SendOptions,
  exchange: Exchange,
): true {
  onSent?.()
  connection.send(exchange, request, body)
  return true
}

/**
 * Waits for the head of a response. While it waits, it has no reference to a body of text or bytes, which may be large.
 */
async function received(
  transmitted: Promise<boolean>,
  exchange: Exchange,
  upload: ByteStream | undefined,
): Promise<HttpResponse> {
  let isSent = false
  try {
    isSent = await transmitted
    return new ClientResponse(await exchange.head(), exchange)
  } catch (error) {
    upload?.cancel()
    const failure = exchange.failure ?? socketError(error)
    exchange.fail(failure)
    throw isSent ? failure : unsent(failure)
  }
}
