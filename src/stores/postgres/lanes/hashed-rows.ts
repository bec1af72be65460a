import type { SQL } from 'bun'
import type { SqlValue } from '../../books/rows/canonical.ts'
import { toDatabase } from '../database/values.ts'
import {
  allColumnsOf,
  formOf,
  keyOf,
  type HashedTableDefinition,
  type NewRow,
} from '../../books/rows/hashed-table.ts'

/** Where a new row is: its id, and the commit that covers it. */
export type RowPlace = { readonly id: bigint; readonly commitId: bigint }

/** The form of a new row that the hash of its commit covers. */
export function formOfRow<Definition extends HashedTableDefinition>(
  definition: Definition,
  place: RowPlace,
  row: NewRow<Definition>,
): readonly SqlValue[] {
  return formOf(definition, coveredValues(definition, place, row))
}

/** Inserts a row of a hashed table. Returns false, and writes nothing, if a unique column has this value already. */
export async function insertRow<Definition extends HashedTableDefinition>(
  sql: SQL,
  definition: Definition,
  place: RowPlace,
  row: NewRow<Definition>,
): Promise<boolean> {
  const values = [...coveredValues(definition, place, row), ...changingValues(definition, row)]
  const { count } = await sql.unsafe(
    insertText(definition, columnsWritten(definition)),
    values.map(toDatabase),
  )
  return Number(count) > 0
}

/** Like `insertRow`, with the next id of the table's sequence, which it returns; null if it writes nothing. */
export async function insertWithSequence<Definition extends HashedTableDefinition>(
  sql: SQL,
  definition: Definition,
  commitId: bigint,
  row: NewRow<Definition>,
): Promise<bigint | null> {
  const key = keyOf(definition)
  const covered = coveredValues(definition, { id: 0n, commitId }, row).slice(1)
  const values = [...covered, ...changingValues(definition, row)]
  const [inserted] = (await sql.unsafe(
    `${insertText(definition, columnsWritten(definition).slice(1))} RETURNING ${key} AS id`,
    values.map(toDatabase),
  )) as { id: bigint }[]
  return inserted?.id ?? null
}

/** The row id first, as in `allColumnsOf`. */
function columnsWritten(definition: HashedTableDefinition): readonly string[] {
  return [...allColumnsOf(definition), ...Object.keys(definition.changing ?? {})]
}

function insertText({ name }: HashedTableDefinition, columns: readonly string[]): string {
  return `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})
      ON CONFLICT DO NOTHING`
}

function changingValues(definition: HashedTableDefinition, row: object): readonly SqlValue[] {
  return Object.keys(definition.changing ?? {}).map(name => valueOf(row, name))
}

/** In the order of `allColumnsOf`. */
function coveredValues<Definition extends HashedTableDefinition>(
  definition: Definition,
  { id, commitId }: RowPlace,
  row: NewRow<Definition>,
): readonly SqlValue[] {
  return allColumnsOf(definition).map(name =>
    name === keyOf(definition) ? id : name === 'commit_id' ? commitId : valueOf(row, name),
  )
}

/** The names come from the definition that also types the row. */
function valueOf(row: object, name: string): SqlValue {
  return (row as Readonly<Record<string, SqlValue | undefined>>)[name] ?? null
}
