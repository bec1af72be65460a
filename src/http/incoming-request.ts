import type { CallerSignal } from '../gateway/ports/caller-signal.ts'
import type { SentText } from '../protocol/json/parse-json.ts'

/** One request as a handler sees it. */
export interface IncomingRequest {
  readonly method: string
  /** As the client sent it, percent escapes and all. */
  readonly path: string
  /** What stands behind the question mark; empty where there is none. */
  readonly query: string
  /** A header's value, by its name in small letters; the values of several of the name with commas between; null for none. */
  header(name: string): string | null
  /** Fires when the client leaves before its reply is over. Made when it is first asked for. */
  readonly signal: CallerSignal
  /** Whether the client has left. */
  readonly hasLeft: boolean
  /**
   * The whole body, at once where it is there already. Throws `request_too_large` as soon as the declared or the received
   * length passes the limit, `body_timeout` for an upload that stalls, and `invalid_json` for what is no UTF-8. Ask once.
   */
  body(limits: BodyLimits): SentText | Promise<SentText>
}

export type BodyLimits = {
  readonly bytesMax: number
  /** How long an upload may go without a byte. A server without this bound can be held by uploads that only drip. */
  readonly idleMs: number
  /** How long an upload may take in all. */
  readonly totalMs: number
}
