import type { SqlValue } from './canonical.ts'

/** The type of a column. A question mark stands for a column that may be null. */
export type ColumnType = 'integer' | 'integer?' | 'text' | 'text?' | 'blob'

/** Columns in the order of the hash, with their types. */
export type Columns = Readonly<Record<string, ColumnType>>

/**
 * The tables whose rows commit hashes cover, with the columns that they cover, in the order of the hash. The tag of a
 * table never changes, and neither do names, types and order of its columns. A column that a later migration adds is
 * null in earlier rows, and is in the form of a row only if it is not null: rows stay verified with the form that they
 * were written in.
 */
export type HashedTableDefinition = {
  readonly tag: number
  readonly name:
    | 'operations'
    | 'charges'
    | 'credits'
    | 'tariffs'
    | 'attempts'
    | 'audit_log'
    | 'accounts'
    | 'api_keys'
    | 'holds'
    | 'jobs'
    | 'job_events'
    | 'corrections'
    | 'admin_tokens'
    | 'projects'
    | 'api_key_secrets'
    | 'api_key_secret_ends'
  /** The column of the row id, if it is not `id`. */
  readonly key?: 'row_id'
  /** Without the row id, which comes first, and `commit_id`, which comes last. */
  readonly columns: Columns
  /** Covered columns that migration 0016 added, before `commit_id`: all null, or none. */
  readonly added?: Columns
  /**
   * Covered columns that later migrations added. Each one that is not null is in the form of its row as its name and
   * its value, before `commit_id`.
   */
  readonly named?: Columns
  /** SQL for the first value of a covered column that later steps may change. */
  readonly atCreation?: Readonly<Record<string, string>>
  /**
   * Covered columns that later steps may change, with the column of a later migration that has the first value once the
   * column was changed.
   */
  readonly firstIn?: Readonly<Record<string, string>>
  /** Columns that are written with the row and change later, so that no hash covers them. */
  readonly changing?: Columns
  /** Columns that are null or their default at first and set later, so that no hash covers them. */
  readonly later?: readonly string[]
}

type ValueOf<Type extends ColumnType> = {
  integer: number | bigint
  'integer?': number | bigint | null
  text: string
  'text?': string | null
  blob: Uint8Array
}[Type]

type Values<Of extends Columns | undefined> = Of extends Columns
  ? { readonly [name in keyof Of]: ValueOf<Of[name]> }
  : unknown

/**
 * A new row of a hashed table: a value for each column, by its name. Columns that were added later may be left out and
 * are then null.
 */
export type NewRow<Table extends HashedTableDefinition> = Values<Table['columns']> &
  Values<Table['changing']> &
  Partial<Values<Table['added']>> &
  Partial<Values<Table['named']>>

export function keyOf({ key }: HashedTableDefinition): string {
  return key ?? 'id'
}

/** The covered columns of a hashed table without those that were added later, in the order of the hash. */
export function columnsOf(table: HashedTableDefinition): readonly string[] {
  return [keyOf(table), ...Object.keys(table.columns), 'commit_id']
}

/** All covered columns of a hashed table, in the order of the hash. */
export function allColumnsOf(table: HashedTableDefinition): readonly string[] {
  return layoutOf(table).all
}

/** The columns of a table as lists. They are made once, because each new row needs them. */
type Layout = {
  readonly all: readonly string[]
  readonly named: readonly string[]
  /** Where the values of the columns that were added later begin, and those of the named ones. */
  readonly addedStart: number
  readonly namedStart: number
}

const layouts = new WeakMap<HashedTableDefinition, Layout>()

function layoutOf(table: HashedTableDefinition): Layout {
  let layout = layouts.get(table)
  if (layout === undefined) {
    const columns = Object.keys(table.columns)
    const added = Object.keys(table.added ?? {})
    const named = Object.keys(table.named ?? {})
    const all = [keyOf(table), ...columns, ...added, ...named, 'commit_id']
    // The row id and the columns come first.
    const addedStart = 1 + columns.length
    layout = { all, named, addedStart, namedStart: addedStart + added.length }
    layouts.set(table, layout)
  }
  return layout
}

/**
 * A query for the covered values of each row: by default all columns, which `formOf` turns into the form of the row.
 */
export function selectCovered(table: HashedTableDefinition, columns = allColumnsOf(table)): string {
  const { name, atCreation = {}, firstIn = {} } = table
  const covered = columns.map(column => {
    const first = firstIn[column]
    return atCreation[column] ?? (first === undefined ? column : `coalesce(${first}, ${column})`)
  })
  return `SELECT ${covered.join(', ')} FROM ${name}`
}

/**
 * The values of a row that its hash covers, from the values of all its columns: those that were added later only if
 * they are not null, and the named ones with their names.
 */
export function formOf(table: HashedTableDefinition, values: readonly SqlValue[]): readonly SqlValue[] {
  const { named, addedStart, namedStart } = layoutOf(table)
  const form = values.slice(0, addedStart)
  const commitAt = values.length - 1
  for (let at = addedStart; at < commitAt; at += 1) {
    const value = values[at] ?? null
    if (value === null) continue
    if (at >= namedStart) form.push(named[at - namedStart] ?? '')
    form.push(value)
  }
  form.push(values[commitAt] ?? null)
  return form
}
