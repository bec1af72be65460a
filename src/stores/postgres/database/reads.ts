import type { SQL } from 'bun'
import { GatewayError } from '../../../domain/errors.ts'
import type { Clock } from '../../../gateway/ports/clock.ts'
import { isConnectionGone } from './database-errors.ts'

/**
 * A database that does not answer a query in this time counts as lost. Paid requests must be refused within 3 seconds,
 * also those that first read the job of an earlier request.
 */
const ANSWER_TIMEOUT_MS = 2800
const MS_PER_S = 1000

/** A query outside of a transaction. */
export type ReadQuery = <T>(strings: TemplateStringsArray, ...values: unknown[]) => PromiseLike<T>

/** Queries that may run at once. A pool of the runtime is one, without a time limit. */
export type Reads = ReadQuery & {
  /** Runs work in a transaction. The work calls `answered` after each answer. */
  begin<T>(options: string, work: (sql: SQL, answered?: () => void) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * Reads that fail with `unavailable` if the database does not answer. The runtime has no such limit: a query over a
 * connection that was cut without a word would wait for many minutes. The pool is then replaced by another one, so that
 * later reads do not wait for the same connections.
 */
export function timedReads(
  open: () => SQL,
  {
    answerMs = ANSWER_TIMEOUT_MS,
    after = afterRealTime,
  }: { readonly answerMs?: number; readonly after?: Clock['after'] } = {},
): Reads {
  let pool = open()
  /** Those that were replaced and have work that may still be answered. */
  const replaced = new Set<Promise<unknown>>()

  const replace = (lost: SQL) => {
    if (pool !== lost) return
    pool = open()
    const closed = lost.close({ timeout: answerMs / MS_PER_S }).catch(() => undefined)
    replaced.add(closed)
    void closed.finally(() => replaced.delete(closed))
  }

  const inTime = async <T>(work: (sql: SQL, answered: () => void) => PromiseLike<T>): Promise<T> => {
    const [sql, { promise: late, reject }] = [pool, Promise.withResolvers<never>()]
    const fail = () => {
      replace(sql)
      reject(notRead())
    }
    let stop = after(answerMs, fail)
    const answered = () => {
      stop()
      stop = after(answerMs, fail)
    }
    try {
      return await Promise.race([work(sql, answered), late])
    } catch (error) {
      if (!isConnectionGone(error)) throw error
      // Others of the pool are probably lost, too.
      replace(sql)
      throw notRead(error)
    } finally {
      stop()
    }
  }

  const query = <T>(strings: TemplateStringsArray, ...values: unknown[]) =>
    inTime<T>(sql => sql<T>(strings, ...values))
  return Object.assign(query, {
    begin: <T>(options: string, work: (sql: SQL, answered?: () => void) => Promise<T>) =>
      inTime((sql, answered) =>
        sql.begin(options, transaction => {
          answered()
          return work(transaction, answered)
        }),
      ) as Promise<T>,
    close: async () => {
      await Promise.all([pool.close({ timeout: answerMs / MS_PER_S }), ...replaced])
    },
  })
}

function afterRealTime(delayMs: number, then: () => void): () => void {
  const timer = setTimeout(then, delayMs)
  return () => clearTimeout(timer)
}

/** The error for callers whose data was not read. A retry can help. */
function notRead(cause?: unknown): GatewayError {
  return new GatewayError('unavailable', 'The database does not answer at the moment. Try again shortly.', {
    retryAfter: '5',
    cause,
  })
}
