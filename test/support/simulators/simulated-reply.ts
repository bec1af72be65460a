import type { Bytes } from '../../../src/domain/bytes.ts'
/** One request as a simulated provider sees it. */
export type SimulatedRequest = {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a simulated provider does with a request. */
export type SimulatedReply =
  | {
      readonly send: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string | Bytes
    }
  /** A body of this length: the piece, again and again, with a pause before each but the first. */
  | {
      readonly send: 'pieces'
      readonly headers: Readonly<Record<string, string>>
      readonly piece: Bytes
      readonly bytes: number
      readonly pauseMs: number
    }
  /** Server-sent events, with a pause before each but the first, and then the end of the body or something else. */
  | {
      readonly send: 'events'
      readonly events: readonly string[]
      readonly pauseMs: number
      readonly end: 'whole' | 'reset' | 'silence'
    }
  /** The connection breaks before a byte of an answer. */
  | { readonly send: 'reset' }
  /** No answer ever comes. */
  | { readonly send: 'nothing' }

export function jsonReply(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): SimulatedReply {
  const type = { 'content-type': 'application/json' }
  return { send: 'answer', status, headers: { ...type, ...headers }, body: JSON.stringify(value) }
}

export function htmlReply(status = 200, headers: Readonly<Record<string, string>> = {}): SimulatedReply {
  const type = { 'content-type': 'text/html' }
  return { send: 'answer', status, headers: { ...type, ...headers }, body: '<html>Bad gateway</html>' }
}
