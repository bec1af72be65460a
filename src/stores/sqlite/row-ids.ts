import type { Database } from 'bun:sqlite'
import { GatewayError } from '../../domain/errors.ts'

/** The first free row id of a table that is only appended to. */
export function nextRowId(database: Database, table: 'operations' | 'charges'): bigint {
  const row = database.query<{ last: bigint | null }, []>(`SELECT max(id) AS last FROM ${table}`).get()
  return (row?.last ?? 0n) + 1n
}

/** SQLite's largest integer. */
export const ROW_ID_MAX = 2n ** 63n - 1n
const CURSOR = /^(r?)(\d{1,19})$/

/** The place of a row in a list. */
export function cursorOf(rowId: bigint): string {
  return `r${rowId}`
}

/** Reads a cursor; `isOld` for one of an earlier version, without the `r`. Throws `invalid_field` for any other text. */
export function readCursor(cursor: string): { readonly value: bigint; readonly isOld: boolean } {
  const [, prefix, digits = ''] = CURSOR.exec(cursor) ?? []
  const value = BigInt(digits)
  if (prefix === undefined || value > ROW_ID_MAX)
    throw new GatewayError('invalid_field', '"cursor" must be the "next" of an earlier page.', {
      param: 'cursor',
    })
  return { value, isOld: prefix === '' }
}
