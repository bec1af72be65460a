import { Connection } from './connection.ts'
import { Exchange } from './exchange.ts'
import type { HttpRequest } from './http-request.ts'
import { IdleConnections } from './idle-connections.ts'
import type { ResponseHead } from './response-head.ts'

/** Sends requests to http and https servers, and keeps connections for the ones that follow. */
export type HttpClient = {
  /** Sends one POST, once: a connection that breaks under it is a failure, never a reason to send again. Never throws. */
  begin(request: HttpRequest, body: Uint8Array<ArrayBuffer>): HttpExchange
  /** Closes the connections that wait for a request; exchanges that run end by themselves. */
  close(): void
}

/**
 * One request and its answer. Ask for the head first, then for the body in pieces or whole, one thing at a time. Whatever
 * fails rejects with an error whose `code` says why and names neither host nor key.
 */
export type HttpExchange = {
  /** Resolves when the answer's head has come. */
  head(): Promise<ResponseHead>
  /** The next bytes of the body, never none; undefined at its end. The server is slowed down while nobody asks. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** The whole body; undefined where it is longer than `bytesMax`, and then the connection is closed. */
  whole(bytesMax: number): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Closes the connection at once; what waits, and whatever is asked later, rejects. After the end it changes nothing. */
  cut(): void
}

/** A client that runs on this thread: Bun's `fetch` works in another one, and the way there and back costs more than the work. */
export function httpClient(): HttpClient {
  const idle = new IdleConnections()
  return {
    begin(request, body) {
      const exchange = new Exchange()
      const connection = idle.take(request.origin) ?? new Connection(request.origin, idle)
      connection.start(exchange, request.head, body)
      return exchange
    },
    close: () => idle.close(),
  }
}
