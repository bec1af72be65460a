import type { SqlValue } from './canonical.ts'

/** A table whose rows are copied from SQLite to PostgreSQL as they are. */
export type CopiedTable = {
  readonly name: string
  readonly columns: readonly CopiedColumn[]
  /** The columns of its primary key. Rows are copied in the order of it, bytewise for text. */
  readonly key: readonly CopiedColumn[]
}

export type CopiedColumn = { readonly name: string; readonly type: 'integer' | 'text' | 'blob' }

/** The values of a row, in the order of the columns of its table. */
export type CopiedRow = readonly SqlValue[]

/** The hashes of the first and the last commit, which tell books from others and from their later states. */
export type BooksIdentity = { readonly firstCommit: Uint8Array; readonly lastCommit: Uint8Array }

/** Names a row for the operator: `row 17 of credits`. */
export function nameOfCopied({ name, columns, key }: CopiedTable, row: CopiedRow): string {
  const values = key.map(column => String(row[columns.indexOf(column)]))
  return `row ${values.join(', ')} of the table ${name}`
}

/** Whether two stores have the same row. */
export function isSameRow(one: CopiedRow, other: CopiedRow): boolean {
  return one.length === other.length && one.every((value, index) => isSameValue(value, other[index]))
}

function isSameValue(one: SqlValue, other: SqlValue | undefined): boolean {
  if (!(one instanceof Uint8Array)) return one === other
  return (
    other instanceof Uint8Array &&
    one.length === other.length &&
    one.every((byte, index) => byte === other[index])
  )
}
