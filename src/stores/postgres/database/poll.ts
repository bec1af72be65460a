import type { SQL } from 'bun'
import { pause, type Clock } from '../../../gateway/ports/clock.ts'
import { TimedConnection } from './timed-connection.ts'
import { fromDatabase } from './values.ts'

/** The time from the start of one poll to that of the next. */
const POLL_MS = 500
/** A node trusts its copies of rows for this time after the start of a poll. */
const FRESH_MS = 1000

/** A number in the database that each poll reads, such as one that grows with each change that a node must follow. */
export type Watch = {
  /** A query of one row with one integer. */
  readonly sql: string
  /** Called with the number that each poll read. */
  readonly seen: (number: bigint, times: PollTimes) => void
}

/** The monotonic times between which the database answered a poll. */
export type PollTimes = { readonly sentAtMs: number; readonly answeredAtMs: number }

/** Asks the database again and again whether other nodes changed anything, with one query for all watches. */
export class Poll {
  readonly #connection: TimedConnection
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>
  readonly #watches: readonly Watch[]
  readonly #text: string
  readonly #closing = new AbortController()
  /** The start of the last poll that was answered. */
  #freshAtMs = -Infinity

  constructor(parts: {
    readonly connect: () => SQL
    readonly clock: Pick<Clock, 'after' | 'monotonicMs'>
    readonly watches: readonly Watch[]
  }) {
    this.#connection = new TimedConnection({ ...parts, answerMs: FRESH_MS })
    this.#clock = parts.clock
    this.#watches = parts.watches
    this.#text = `SELECT ${parts.watches.map(({ sql }, index) => `(${sql}) AS watch_${index}`).join(', ')}`
  }

  /** Whether every change that is a second old or older was seen. */
  get isFresh(): boolean {
    return this.#clock.monotonicMs() - this.#freshAtMs < FRESH_MS
  }

  /** Polls until `close`. Resolves after the first poll. */
  async start(): Promise<void> {
    const startedAtMs = this.#clock.monotonicMs()
    await this.once()
    void this.#continue(startedAtMs)
  }

  /** Polls once. A database that does not answer is asked again in the next poll. */
  async once(): Promise<void> {
    const startedAtMs = this.#clock.monotonicMs()
    try {
      const rows = await this.#connection.ask<Record<string, unknown>[]>(sql => sql.unsafe(this.#text))
      const answeredAtMs = this.#clock.monotonicMs()
      const row = fromDatabase(rows)[0] as Readonly<Record<string, bigint>> | undefined
      const times = { sentAtMs: startedAtMs, answeredAtMs }
      for (const [index, { seen }] of this.#watches.entries()) seen(row?.[`watch_${index}`] ?? 0n, times)
      this.#freshAtMs = startedAtMs
    } catch {
      // `isFresh` says so after a second.
    }
  }

  close(): void {
    this.#closing.abort()
    this.#connection.close()
  }

  async #continue(startedAtMs: number): Promise<void> {
    const { signal } = this.#closing
    for (let lastAtMs = startedAtMs; ;) {
      const leftMs = lastAtMs + POLL_MS - this.#clock.monotonicMs()
      if (leftMs > 0) await pause(this.#clock, leftMs, signal)
      if (signal.aborted) return
      lastAtMs = this.#clock.monotonicMs()
      await this.once()
    }
  }
}
