import { nearest } from './nearest.ts'
import { report, shorten, type Path, type RowProblem } from './problem.ts'

/** A mapping under inspection: where it stands in the whole, and where to report what is wrong with it. */
export type Row = {
  readonly values: Readonly<Record<string, unknown>>
  readonly path: Path
  readonly problems: RowProblem[]
}

/** What every reader takes: a value, where it stands, and where to report. */
export type Place = { readonly path: Path; readonly problems: RowProblem[] }

/** Undefined, and reported, where the value is no mapping. */
export function openRow(value: unknown, { path, problems }: Place, remedy: string): Row | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { values: value as Record<string, unknown>, path, problems }
  }
  report(problems, { path, message: describe(value), remedy })
  return undefined
}

/** The field's value; undefined where it is absent or null, which is the same. */
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

/** Reports each field that this thing (`a chat model`) does not have, with the one that was probably meant. */
export function refuseUnknownFields(row: Row, thing: string, known: readonly string[]): void {
  for (const field of Object.keys(row.values)) {
    if (known.includes(field)) continue
    const meant = nearest(field, known)
    report(row.problems, {
      path: [...row.path, field],
      message: `is no field of ${thing}`,
      remedy: meant === undefined ? `the fields are ${known.join(', ')}` : `did you mean ${meant}?`,
    })
  }
}

/** Says what a wrong value is: `is -1`, `is "abc"`, `is a list`. Never use it on a secret. */
export function describe(value: unknown): string {
  if (value === undefined || value === null) return 'is empty'
  if (typeof value === 'string') return `is ${quote(value)}`
  if (typeof value === 'number' || typeof value === 'boolean') return `is ${value}`
  return Array.isArray(value) ? 'is a list' : 'is a mapping'
}

/** In quotes, and shortened to what fits in a message. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text))
}

/** The same object without its undefined members, for types whose optional fields are absent rather than undefined. */
export function definedOnly<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}
