import type { SqlValue } from '../../books/rows/canonical.ts'

/** A number would be sent as a floating-point number, which finds no index of integers. */
export function toDatabase(value: SqlValue): SqlValue {
  return typeof value === 'number' ? BigInt(value) : value
}

/** The rows of a query as steps expect them: integers are bigint, conditions are 0n or 1n. */
export function fromDatabase(rows: readonly Record<string, unknown>[]): readonly unknown[] {
  return rows.map(row =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asStored(value)])),
  )
}

function asStored(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'boolean') return value ? 1n : 0n
  return value instanceof Uint8Array ? new Uint8Array(value) : value
}

const numbered = new Map<string, string>()

/** The text of a query with `$1`, `$2`, … for its question marks. */
export function numberedText(sql: string): string {
  let text = numbered.get(sql)
  if (text === undefined) {
    let count = 0
    text = sql.replaceAll('?', () => `$${(count += 1)}`)
    numbered.set(sql, text)
  }
  return text
}
