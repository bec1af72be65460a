import type { Clock } from '../../../gateway/ports/clock.ts'
import type { PollTimes, Watch } from './poll.ts'
import type { ReadQuery } from './reads.ts'

/** The database rounds its time to milliseconds. */
const ROUNDING_MS = 0.5

/**
 * The time of the database, as a node knows it between two polls. Everything that a node stores or compares with a
 * stored instant takes its time here, so nodes whose clocks differ agree.
 *
 * It follows the monotonic clock of the process from the last measurement, so a step of the machine's wall clock does
 * not move it. Timers are those of the process.
 */
export class DatabaseClock implements Clock {
  readonly #own: Clock
  readonly #nowMs: () => number | null
  /** How far the database is ahead of the monotonic clock of this process. */
  #aheadMs: number

  private constructor(own: Clock, nowMs: () => number | null, aheadMs: number) {
    this.#own = own
    this.#nowMs = nowMs
    this.#aheadMs = aheadMs
  }

  /** Asks the database for its time. `nowMs` replaces its clock, for tests. */
  static async open({
    clock,
    reads,
    nowMs = () => null,
  }: {
    readonly clock: Clock
    readonly reads: ReadQuery
    readonly nowMs?: () => number | null
  }): Promise<DatabaseClock> {
    const sentAtMs = clock.monotonicMs()
    const [row] = await reads<{ now_ms: bigint }[]>`SELECT now_ms(${nowMs()}) AS now_ms`
    const betweenMs = (sentAtMs + clock.monotonicMs()) / 2
    return new DatabaseClock(clock, nowMs, Number(row?.now_ms) - betweenMs)
  }

  /** Lets each poll measure the time of the database. */
  get watch(): Watch {
    return { sql: 'SELECT now_ms(NULL)', seen: (databaseMs, times) => this.#measured(databaseMs, times) }
  }

  /** How far the wall clock of this machine is ahead of the database's. Negative if it is behind. */
  get offsetMs(): number {
    return this.#own.now() - this.now()
  }

  now(): number {
    return Math.floor(this.#own.monotonicMs() + this.#aheadMs)
  }

  monotonicMs(): number {
    return this.#own.monotonicMs()
  }

  after(delayMs: number, then: () => void): () => void {
    return this.#own.after(delayMs, then)
  }

  /**
   * The database read its clock between the question and the answer. A time that agrees with that is kept, so slow
   * answers change nothing, and the fastest ones make it exact. Another one moves only as far as it must.
   */
  #measured(databaseMs: bigint, { sentAtMs, answeredAtMs }: PollTimes): void {
    const foundMs = this.#nowMs() ?? Number(databaseMs)
    const leastMs = foundMs - ROUNDING_MS - answeredAtMs
    const mostMs = foundMs + ROUNDING_MS - sentAtMs
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, leastMs), mostMs)
  }
}
