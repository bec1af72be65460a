import type { Clock } from '../../gateway/ports/clock.ts'
import type { CacheServer } from '../../gateway/ports/requests/shared-cache.ts'
import { Connection, TooManyCallsError } from './connection.ts'
import { RefusedCommand, type Command, type Reply } from './resp.ts'

/** After a failure, requests do not wait for the server for this long. */
const OFF_MS = 5000
/**
 * Refusals because of one value: the value of a key has another type, or there is no memory for a new one. After any
 * other refusal the server is useless for now: it loads its data, became a replica, or wants another login.
 */
const HARMLESS = new Set(['WRONGTYPE', 'OOM'])

/** Told when the server is lost and when it is back, once each. */
export type OnCacheChange = {
  readonly lost: (reason: string) => void
  readonly back: () => void
}

/**
 * Calls a server that may be away. A call takes a tenth of a second at most. After a failure there are no calls for
 * five seconds; then the next call opens a connection for those that follow, and does not wait for it.
 */
export class CacheClient {
  readonly #server: CacheServer
  readonly #clock: Clock
  readonly #valueBytesMax: number
  readonly #onChange: OnCacheChange
  #connection: Connection | undefined
  #opening: Promise<string | undefined> | undefined
  #offUntilMs = -Infinity
  #isLost = false
  #isClosed = false
  answered = 0
  failed = 0
  skipped = 0

  constructor(
    server: CacheServer,
    ports: { readonly clock: Clock; readonly onChange: OnCacheChange },
    { valueBytesMax }: { readonly valueBytesMax: number },
  ) {
    this.#server = server
    this.#clock = ports.clock
    this.#onChange = ports.onChange
    this.#valueBytesMax = valueBytesMax
  }

  get isConnected(): boolean {
    return this.#connection !== undefined
  }

  /** Resolves with the reason if there is no connection. Never rejects. */
  open(): Promise<string | undefined> {
    if (this.#connection !== undefined) return Promise.resolve(undefined)
    this.#opening ??= this.#connect().finally(() => (this.#opening = undefined))
    return this.#opening
  }

  /** The replies to commands that are sent together; undefined if there are none. Never rejects. */
  async call(commands: readonly Command[]): Promise<readonly Reply[] | undefined> {
    const connection = this.#connection
    if (connection === undefined) {
      if (!this.#isClosed && this.#clock.monotonicMs() >= this.#offUntilMs) void this.open()
      this.skipped += 1
      return undefined
    }
    try {
      const replies = await connection.call(commands)
      const refused = replies.find(reply => reply instanceof RefusedCommand && !HARMLESS.has(reply.code))
      if (refused instanceof RefusedCommand) {
        this.failed += 1
        this.#drop(connection, refused)
        return undefined
      }
      this.answered += 1
      return replies
    } catch (error) {
      if (error instanceof TooManyCallsError) this.skipped += 1
      else {
        this.failed += 1
        this.#drop(connection, error as Error)
      }
      return undefined
    }
  }

  close(): void {
    this.#isClosed = true
    this.#connection?.close()
    this.#connection = undefined
  }

  async #connect(): Promise<string | undefined> {
    try {
      const connection = await Connection.open(this.#server, {
        clock: this.#clock,
        valueBytesMax: this.#valueBytesMax,
        onLost: ({ isBusy }) => {
          // Servers and proxies close idle connections. If it was not idle, a call that failed knows.
          if (isBusy || this.#opening !== undefined || this.#connection === undefined) return
          this.#connection = undefined
          void this.open()
        },
      })
      if (this.#isClosed) {
        connection.close()
        return 'The cache was closed.'
      }
      this.#connection = connection
      if (this.#isLost) this.#onChange.back()
      this.#isLost = false
      return undefined
    } catch (error) {
      return this.#rest(error)
    }
  }

  #drop(connection: Connection, reason: Error): void {
    connection.close()
    // Another call of the same connection may have dropped it before.
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#rest(reason)
  }

  #rest(error: unknown): string {
    const reason = reasonOf(error)
    this.#offUntilMs = this.#clock.monotonicMs() + OFF_MS
    if (!this.#isLost && !this.#isClosed) this.#onChange.lost(reason)
    this.#isLost = true
    return reason
  }
}

/** A server can refuse with any text. */
const REASON_LENGTH_MAX = 200

/** The reason of a failed call or connection, as a sentence for the operator. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message.slice(0, REASON_LENGTH_MAX).replace(/\.$/, '') : ''
  if (error instanceof RefusedCommand) return `It refused: ${text}.`
  return text === '' ? 'The connection failed.' : `${text}.`
}
