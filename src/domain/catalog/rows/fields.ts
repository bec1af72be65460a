import { nearest } from './nearest.ts'
import { report } from './problem.ts'
import { describe, fieldOf, quote, reportField, reportMissing, type Place, type Row } from './row.ts'

/** What a text may look like, and the remedy in the report when it does not. */
export type TextRule = { readonly pattern: RegExp; readonly remedy: string }

// Readers of single fields. Each returns undefined when the field is absent, or after it has reported a wrong value.

/** A text that matches its rule. */
export function text(row: Row, field: string, rule: TextRule): string | undefined {
  const value = fieldOf(row, field)
  return value === undefined ? undefined : checkText(value, rule, { ...row, path: [...row.path, field] })
}

/** Like `text`, but also reports an absent field. */
export function requiredText(row: Row, field: string, rule: TextRule): string | undefined {
  if (fieldOf(row, field) === undefined) reportMissing(row, field, rule.remedy)
  return text(row, field, rule)
}

/** Checks a value that has already been read, such as an item of a list, against the rule. */
export function checkText(value: unknown, rule: TextRule, { path, problems }: Place): string | undefined {
  if (typeof value === 'string' && rule.pattern.test(value)) return value
  report(problems, { path, message: describe(value), remedy: rule.remedy })
  return undefined
}

/** True or false. */
export function flag(row: Row, field: string): boolean | undefined {
  const value = fieldOf(row, field)
  if (value === undefined || typeof value === 'boolean') return value
  reportField(row, field, { message: describe(value), remedy: 'write true or false' })
  return undefined
}

/** The allowed numbers. Both limits are included. */
export type NumberRule = { readonly min: number; readonly max: number; readonly whole: boolean }

/** A number that matches its rule. */
export function number(row: Row, field: string, rule: NumberRule): number | undefined {
  const value = fieldOf(row, field)
  if (value === undefined) return undefined
  const { min, max, whole } = rule
  if (typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value))) {
    return value
  }
  const what = whole ? 'a whole number' : 'a number'
  reportField(row, field, { message: describe(value), remedy: `write ${what} from ${min} to ${max}` })
  return undefined
}

/** One of a fixed set of words. The report of a wrong one suggests the nearest. */
export function oneOf<T extends string>(row: Row, field: string, known: readonly T[]): T | undefined {
  const value = fieldOf(row, field)
  return value === undefined ? undefined : checkOneOf(value, known, { ...row, path: [...row.path, field] })
}

/** Like `oneOf`, but also reports an absent field. */
export function requiredOneOf<T extends string>(row: Row, field: string, known: readonly T[]): T | undefined {
  if (fieldOf(row, field) === undefined) reportMissing(row, field, `write one of ${known.join(', ')}`)
  return oneOf(row, field, known)
}

/** Like `oneOf`, for a value that has already been read. */
export function checkOneOf<T extends string>(
  value: unknown,
  known: readonly T[],
  { path, problems }: Place,
): T | undefined {
  const found = known.find(candidate => candidate === value)
  if (found !== undefined) return found
  const meant = typeof value === 'string' ? nearest(value, known) : undefined
  const hint = meant === undefined ? '' : ` (did you mean ${quote(meant)}?)`
  report(problems, { path, message: describe(value), remedy: `write one of ${known.join(', ')}${hint}` })
  return undefined
}

/** A list of one to `max` different items, each read by `readItem`. */
export function list<T>(
  row: Row,
  field: string,
  { max, remedy }: { readonly max: number; readonly remedy: string },
  readItem: (value: unknown, place: Place) => T | undefined,
): readonly T[] | undefined {
  const value = fieldOf(row, field)
  if (value === undefined) return undefined
  return checkList(value, { ...row, path: [...row.path, field] }, { max, remedy }, readItem)
}

/** Like `list`, for a value that has already been read. */
export function checkList<T>(
  value: unknown,
  { path, problems }: Place,
  { max, remedy }: { readonly max: number; readonly remedy: string },
  readItem: (value: unknown, place: Place) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(value) || value.length === 0) {
    report(problems, { path, message: Array.isArray(value) ? 'is empty' : describe(value), remedy })
    return undefined
  }
  if (value.length > max) {
    report(problems, { path, message: `has ${value.length} items`, remedy: `write at most ${max}` })
    return undefined
  }
  const items: T[] = []
  const seen = new Set<string>()
  for (const [index, entry] of value.entries()) {
    const place = { path: [...path, index], problems }
    const item = readItem(entry, place)
    if (item === undefined) continue
    const key = JSON.stringify(item, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part))
    if (seen.has(key)) report(problems, { ...place, message: 'is listed twice', remedy: 'list it once' })
    seen.add(key)
    items.push(item)
  }
  return items
}
