import type { SQL } from 'bun'
import type { Clock } from '../../../gateway/ports/clock.ts'

/** A connection for questions that must be answered in a time. */
export class TimedConnection {
  readonly #connect: () => SQL
  readonly #clock: Pick<Clock, 'after'>
  readonly #answerMs: number
  /** Undefined after a question that failed: the next one gets another connection. */
  #sql: SQL | undefined
  #isClosed = false

  constructor(parts: {
    readonly connect: () => SQL
    readonly clock: Pick<Clock, 'after'>
    /** A question that is not answered in this time fails. */
    readonly answerMs: number
  }) {
    this.#connect = parts.connect
    this.#clock = parts.clock
    this.#answerMs = parts.answerMs
  }

  async ask<T>(question: (sql: SQL) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('The connection is closed.')
    const sql = (this.#sql ??= this.#connect())
    const late = Promise.withResolvers<never>()
    const stop = this.#clock.after(this.#answerMs, () =>
      late.reject(new Error(`The database did not answer in ${this.#answerMs} ms.`)),
    )
    try {
      return await Promise.race([question(sql), late.promise])
    } catch (error) {
      if (this.#sql === sql) this.#drop()
      throw error
    } finally {
      stop()
    }
  }

  /** Fails the questions that are being asked, and later ones. */
  close(): void {
    this.#isClosed = true
    this.#drop()
  }

  #drop(): void {
    this.#sql?.close({ timeout: 0 }).catch(() => undefined)
    this.#sql = undefined
  }
}
