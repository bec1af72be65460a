import { GatewayError } from '../../domain/errors.ts'

/** SQLite's largest integer. */
export const ROW_ID_MAX = 2n ** 63n - 1n
/** SQLite's smallest integer. */
export const ROW_ID_MIN = -(2n ** 63n)
const CURSOR = /^(r?)(\d{1,19})$/

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
  if (prefix === undefined || value > ROW_ID_MAX)
    throw new GatewayError('invalid_field', '"cursor" must be the "next" of an earlier page.', {
      param: 'cursor',
    })
  return { value, isOld: prefix === '' }
}
