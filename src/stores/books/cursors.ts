import { GatewayError } from '../../domain/errors.ts'

/** SQLite's largest integer. */
export const ROW_ID_MAX = 2n ** 63n - 1n
/** SQLite's smallest integer. */
export const ROW_ID_MIN = -(2n ** 63n)
const CURSOR = /^(r?)(\d{1,19})$/
const TIMED_CURSOR = /^t(\d{1,16})(r\d{1,19})$/
const STATEMENT_CURSOR = /^n(\d{1,19})(r\d{1,19})$/

/** The place of a row in a list. */
export function cursorOf(rowId: bigint): string {
  return `r${rowId}`
}

/**
 * Reads a cursor; `isOld` for one of an earlier version, without the `r`. Throws `invalid_field` for any other text.
 */
export function readCursor(cursor: string): { readonly value: bigint; readonly isOld: boolean } {
  const [, prefix, digits = ''] = CURSOR.exec(cursor) ?? []
  const value = BigInt(digits)
  if (prefix === undefined || value > ROW_ID_MAX) throw unknownCursor()
  return { value, isOld: prefix === '' }
}

/**
 * The place of an operation in the statement of its account: its number, and its row, because no index has the number.
 */
export function statementCursorOf({ number, id }: { readonly number: bigint; readonly id: bigint }): string {
  return `n${number}${cursorOf(id)}`
}

/**
 * Reads a cursor of a statement; without a number for one of an earlier version, which is only a row id. Throws
 * `invalid_field` for any other text.
 */
export function readStatementCursor(cursor: string): { readonly rowId: bigint; readonly number?: bigint } {
  const [, number, row] = STATEMENT_CURSOR.exec(cursor) ?? []
  if (number === undefined || row === undefined) return { rowId: readCursor(cursor).value }
  return { rowId: readCursor(row).value, number: BigInt(number) }
}

/** The place of an operation in a list by time. */
export function timedCursorOf({ atMs, rowId }: TimedPlace): string {
  return `t${atMs}${cursorOf(rowId)}`
}

/** Reads a cursor of a list by time. Throws `invalid_field` for any other text. */
export function readTimedCursor(cursor: string): TimedPlace {
  const [, time, row] = TIMED_CURSOR.exec(cursor) ?? []
  if (time === undefined || row === undefined) throw unknownCursor()
  return { atMs: BigInt(time), rowId: readCursor(row).value }
}

/**
 * A page of rows that were read with one row more than the page, which tells whether there is another page. `next` is
 * the cursor of the last row, if there is.
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOfRow: (last: Row) => string,
): { readonly shown: readonly Row[]; readonly next?: string } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return rows.length > limit && last !== undefined ? { shown, next: cursorOfRow(last) } : { shown }
}

type TimedPlace = { readonly atMs: bigint; readonly rowId: bigint }

/** For a text that is not a cursor, and for a cursor of an operation that the account does not have. */
export function unknownCursor(): GatewayError {
  return new GatewayError('invalid_field', '"cursor" must be the "next" of an earlier page.', {
    param: 'cursor',
  })
}
