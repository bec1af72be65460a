import { SQL } from 'bun'

/** The error of a batch whose lane another process took. */
const FENCED = 'TG001'
const UNIQUE_VALUE_TAKEN = '23505'
const NO_PRIVILEGE = '42501'
const CHECK_VIOLATION = '23514'

/**
 * Whether the server does not answer: the connection was lost or refused (class 08 is from a pooler that lost the
 * server), or the server ends (57P) or ended the session of a node that was frozen inside a transaction (25P03, 25P04).
 * Whether the work was committed is unknown.
 */
export function isLost(error: unknown): boolean {
  const answer = answerOf(error)
  if (answer !== undefined) return /^(08|57P|25P0[34])/.test(answer)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && (code.startsWith('ERR_POSTGRES_CONNECTION') || code === 'ECONNREFUSED')
}

/** Whether the server answered that it did not do the work. It then wrote nothing. */
export function isRefusal(error: unknown): boolean {
  return answerOf(error) !== undefined && !isLost(error)
}

/** Whether another process took the lane of a batch, or the batch does not follow the last one of its lane. */
export function isFenced(error: unknown): boolean {
  return answerOf(error) === FENCED
}

/**
 * Whether the server undid a transaction and ended its session, because the node was slow or frozen between two
 * statements.
 */
export function isEndedIdle(error: unknown): boolean {
  return /^25P0[34]$/.test(answerOf(error) ?? '')
}

/**
 * Whether the server refused now what it could write later: its disk is full or fails (classes 53 and 58), it became
 * read-only, it does not let the node in (28, 3D), or the partition of the month is missing.
 */
export function cannotWriteNow(error: unknown): boolean {
  const answer = answerOf(error) ?? ''
  // Its message may be in another language.
  if (answer === CHECK_VIOLATION)
    return error instanceof SQL.PostgresError && error.routine === 'ExecFindPartition'
  return /^(53|58|25006|28|3D)/.test(answer)
}

/**
 * Whether other transactions were in the way: the two waited for each other (40P01), changed the same rows (40001), or
 * one held a lock for too long (55P03), or the statement was cancelled (57014). It can be tried again at once.
 */
export function isOvertaken(error: unknown): boolean {
  return /^(40P01|40001|55P03|57014)$/.test(answerOf(error) ?? '')
}

/** Whether another transaction wrote the same unique value first. */
export function isUniqueValueTaken(error: unknown): boolean {
  return answerOf(error) === UNIQUE_VALUE_TAKEN
}

/** Whether the role of the connection may not do this. */
export function isNotAllowed(error: unknown): error is Error {
  return answerOf(error) === NO_PRIVILEGE
}

/** Whether a table cannot store the values of a row (class 22), or refuses the row (class 23). */
export function isUnfit(error: unknown): error is Error {
  return /^2[23]/.test(answerOf(error) ?? '')
}

/** The code of PostgreSQL, if the server answered with an error. Errors of the client have none. */
function answerOf(error: unknown): string | undefined {
  const isAnswer = error instanceof SQL.PostgresError && error.code === 'ERR_POSTGRES_SERVER_ERROR'
  return isAnswer ? (error.errno ?? '') : undefined
}
