import type { SqlValue } from './rows/canonical.ts'

/** The most values of a list: the texts of queries stay short, and their number small. */
export const LIST_MAX = 512

/** The values of a condition such as `id IN (?, ?)`. */
export type ValueList = { readonly sql: string; readonly values: readonly SqlValue[] }

/**
 * A list of at least one value and at most `LIST_MAX`. The last value is repeated until their number is a power of two,
 * so that a store prepares few different texts.
 */
export function listOf(of: Iterable<SqlValue>): ValueList {
  const values = [...of]
  const last = values.at(-1)
  if (last === undefined || values.length > LIST_MAX)
    throw new RangeError(`${values.length} values in a list.`)
  let length = 1
  while (length < values.length) length *= 2
  const repeated = Array.from<SqlValue>({ length: length - values.length }).fill(last)
  return { sql: `(${Array.from({ length }).fill('?').join(', ')})`, values: [...values, ...repeated] }
}
