import { connectionTurns } from '../../event-loop/connection-turns.ts'
import type { Deadlines } from '../../providers/deadlines.ts'
import { Connection } from './connection.ts'
import { Exchange } from './exchange.ts'
import { socketFailure } from './http-failure.ts'
import type { HttpRequest } from './http-request.ts'
import { IdleConnections } from './idle-connections.ts'
import type { ResponseHead } from './response-head.ts'

/** Sends requests to http and https servers, and keeps connections for the ones that follow. */
export type HttpClient = {
  /** Sends one POST, once: a connection that breaks under it is a failure, never a reason to send again. Never throws. */
  begin(request: HttpRequest, body: string): HttpExchange
  /** Closes the connections that wait for a request; exchanges that run end by themselves. */
  close(): void
}

/**
 * One request and its answer. Ask for the whole answer; or for its head first, and then for the body in pieces, or whole after all;
 * one thing at a time. Whatever fails fails with an error whose `code` says why and names neither host nor key.
 *
 * What has come and was not asked for waits: of a body that is read in pieces up to 32 KB and one more read of the socket, and then
 * the server waits. What comes next is lost where the exchange is cut.
 */
export type HttpExchange = {
  /** Resolves when the answer's head has come. */
  head(): Promise<ResponseHead>
  /** Gives the receiver the next bytes of the body, never none, and undefined at its end; or tells it why there are none. */
  read(receiver: PieceReceiver): void
  /** Tells the receiver, once, of the whole answer or why there is none. One that is longer than `bytesMax` is cut. */
  answer(bytesMax: number, receiver: AnswerReceiver): void
  /** Closes the connection at once; what waits, and whatever is asked later, fails. After the end it changes nothing. */
  cut(): void
}

export type PieceReceiver = {
  onPiece(piece: Uint8Array<ArrayBuffer> | undefined): void
  onFailed(error: unknown): void
}

/** Called rather than promised to: each promise on the way of a request costs more than most of what is done on it. */
export type AnswerReceiver = {
  /** The body is what stands in `bytes` from `start` up to, not including, `end`. */
  onAnswer(head: ResponseHead, bytes: Buffer, start: number, end: number): void
  onTooLarge(): void
  onFailed(error: unknown): void
}

/**
 * A client that runs on this thread: Bun's `fetch` works in another one, and the way there and back costs more
 * than the work. Connections that wait have their deadlines among `deadlines`.
 */
export function httpClient(deadlines: Deadlines): HttpClient {
  const idle = new IdleConnections(deadlines)
  const turns = connectionTurns<Connection>((connection, error) => connection.fail(socketFailure(error)))
  return {
    begin(request, body) {
      const exchange = new Exchange()
      const connection = idle.take(request.origin) ?? new Connection(request.origin, { idle, turns })
      connection.start(exchange, request, body)
      return exchange
    },
    close: () => idle.close(),
  }
}
