import { nearest } from './nearest.ts'
import { report, shorten, type Path, type RowProblem } from './problem.ts'

/** A mapping that is being checked: its values, its path in the whole value, and where to report its problems. */
export type Row = {
  readonly values: Readonly<Record<string, unknown>>
  readonly path: Path
  readonly problems: RowProblem[]
}

/** Where a value is in the whole value, and where to report its problems. */
export type Place = { readonly path: Path; readonly problems: RowProblem[] }

/** Opens a mapping. Reports any other value and returns undefined. */
export function openRow(value: unknown, { path, problems }: Place, remedy: string): Row | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { values: value as Record<string, unknown>, path, problems }
  }
  report(problems, { path, message: describe(value), remedy })
  return undefined
}

/** The value of a field. Undefined when it is absent or null: both mean the same. */
export function fieldOf(row: Row, field: string): unknown {
  return Object.hasOwn(row.values, field) ? (row.values[field] ?? undefined) : undefined
}

export function placeOf(row: Row, ...steps: Path): Place {
  return { path: [...row.path, ...steps], problems: row.problems }
}

export function reportField(row: Row, field: string, problem: { message: string; remedy: string }): void {
  report(row.problems, { path: [...row.path, field], ...problem })
}

export function reportMissing(row: Row, field: string, remedy: string): void {
  reportField(row, field, { message: 'is missing', remedy })
}

/** Reports each field that `thing` (such as `a chat model`) does not have, and suggests the nearest known field. */
export function refuseUnknownFields(row: Row, thing: string, known: readonly string[]): void {
  for (const field of Object.keys(row.values)) {
    if (known.includes(field)) continue
    const meant = nearest(field, known)
    report(row.problems, {
      path: [...row.path, field],
      message: `is not a field of ${thing}`,
      remedy: meant === undefined ? `the fields are ${known.join(', ')}` : `did you mean ${meant}?`,
    })
  }
}

/** Describes a wrong value: `is -1`, `is "abc"`, `is a list`. Never use it for a secret. */
export function describe(value: unknown): string {
  if (value === undefined || value === null) return 'is empty'
  if (typeof value === 'string') return `is ${quote(value)}`
  if (typeof value === 'number' || typeof value === 'boolean') return `is ${value}`
  return Array.isArray(value) ? 'is a list' : 'is a mapping'
}

/** Quotes a text and shortens it to what fits in a message. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text))
}

/** Removes undefined members, for types whose optional fields must be absent instead of undefined. */
export function definedOnly<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}
