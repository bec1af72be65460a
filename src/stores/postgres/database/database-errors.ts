import { SQL } from 'bun'

/**
 * What an error of a query means:
 * - `fenced`: another process took the lane of a batch, or the batch does not follow the last one of its lane.
 * - `ended`: the server undid the transaction and ended its session, because the node was slow or frozen in it.
 * - `lost`: the connection was lost or refused, or the server ends. Whether the work was committed is unknown.
 * - `overtaken`: other transactions were in the way. It can be tried again at once.
 * - `taken`: another transaction wrote the same unique value first.
 * - `unfit`: the table cannot store the values of a row, or refuses them. Other rows may fit.
 * - `not allowed`: the role of the connection may not do this.
 * - `broken`: a table or a function is not as the node knows it, or is damaged. What does not use it still works.
 * - `later`: the server must change first. Every query fails until then.
 * - `refused`: the server refused it for another reason.
 * - `unread`: the server said nothing that can be read. Whether the work was committed is unknown.
 *
 * After all but `lost` and `unread`, the server wrote nothing.
 */
export type Meaning =
  | 'fenced'
  | 'ended'
  | 'lost'
  | 'overtaken'
  | 'taken'
  | 'unfit'
  | 'not allowed'
  | 'broken'
  | 'later'
  | 'refused'
  | 'unread'

/** By classes of codes, or by whole codes, which come first. */
const meanings: Readonly<Record<string, Meaning>> = {
  TG001: 'fenced',
  // Time limits of a session that is idle in a transaction, and of a transaction.
  '25P03': 'ended',
  '25P04': 'ended',
  // The server ends. Its other codes of class 57 are refusals of one statement.
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'lost',
  '57P04': 'lost',
  '57P05': 'lost',
  // From a pooler that lost the server.
  '08': 'lost',
  // Two transactions waited for each other or changed the same rows, a lock was held for too long, or an operator
  // cancelled the statement.
  '40P01': 'overtaken',
  '40001': 'overtaken',
  '55P03': 'overtaken',
  '57014': 'overtaken',
  '23505': 'taken',
  '22': 'unfit',
  '23': 'unfit',
  // A row is too large for an index, for example.
  '54': 'unfit',
  '42501': 'not allowed',
  // The server only reads.
  '25006': 'later',
  // It does not let the node in.
  '28': 'later',
  '3D': 'later',
  // Its disk or its memory is full, or fails.
  '53': 'later',
  '58': 'later',
  '42': 'broken',
  XX: 'broken',
}

export function meaningOf(error: unknown): Meaning {
  const isAnswer = error instanceof SQL.PostgresError && error.code === 'ERR_POSTGRES_SERVER_ERROR'
  if (!isAnswer) return isErrorOfConnection(error) ? 'lost' : 'unread'
  // The month has no partition. The message may be in another language.
  if (error.errno === '23514' && error.routine === 'ExecFindPartition') return 'later'
  const code = error.errno ?? ''
  return meanings[code] ?? meanings[code.slice(0, 2)] ?? 'refused'
}

/** Whether the connection cannot be used any more. */
export function isConnectionGone(error: unknown): boolean {
  const meaning = meaningOf(error)
  return meaning === 'lost' || meaning === 'ended'
}

function isErrorOfConnection(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && (code.startsWith('ERR_POSTGRES_CONNECTION') || code === 'ECONNREFUSED')
}
