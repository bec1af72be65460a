import { GatewayError } from '../domain/errors.ts'
import type { TimeRange } from '../gateway/ports/ledger.ts'

const MS_PER_DAY = 86_400_000
const DAYS_MAX = 92
/** A `+` in a query is read as a space unless it is escaped. */
const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+ -](?:[01]\d|2[0-3]):[0-5]\d)$/
const EXAMPLE = 'such as 2026-11-01T00:00:00Z'

/**
 * Reads `?from=` and `?to=`, times in RFC 3339. `from` is included and `to` is not. Without `to`, the range
 * ends now. Undefined without both. Throws `invalid_field` for any other text, and for a range that is empty or longer
 * than 92 days.
 */
export function readTimeRange(query: URLSearchParams, nowMs: number): TimeRange | undefined {
  const [from, to] = [query.get('from'), query.get('to')]
  if (from === null && to === null) return undefined
  if (from === null) throw wrong('from', `is missing; write the time at which the range begins, ${EXAMPLE}`)
  const range = { fromMs: readTime('from', from), toMs: to === null ? nowMs : readTime('to', to) }
  const end = to === null ? 'now, because there is no "to"' : `"to"`
  if (range.fromMs >= range.toMs) throw wrong('from', `must be before ${end}`)
  if (range.toMs - range.fromMs > DAYS_MAX * MS_PER_DAY)
    throw wrong('from', `must be at most ${DAYS_MAX} days before ${end}`)
  return range
}

function readTime(name: string, text: string): number {
  const date = RFC_3339.exec(text)?.[1]
  const atMs = Date.parse(text.replace(' ', '+').toUpperCase())
  // A date that does not exist, such as 30 February, could be read as one of the next month.
  const isDate = date !== undefined && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
  if (isDate && atMs >= 0) return atMs
  throw wrong(name, `must be a time in RFC 3339, ${EXAMPLE}`)
}

function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
