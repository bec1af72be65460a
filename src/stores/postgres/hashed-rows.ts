import type { SQL } from 'bun'
import type { SqlValue } from '../books/canonical.ts'
import {
  allColumnsOf,
  formOf,
  keyOf,
  type HashedTableDefinition,
  type NewRow,
} from '../books/hashed-table.ts'

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
  const changing = Object.keys(definition.changing ?? {})
  const columns = [...allColumnsOf(definition), ...changing]
  const values = [...coveredValues(definition, place, row), ...changing.map(name => valueOf(row, name))]
  const { count } = await sql.unsafe(
    `INSERT INTO ${definition.name} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})
      ON CONFLICT DO NOTHING`,
    values,
  )
  return Number(count) > 0
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
