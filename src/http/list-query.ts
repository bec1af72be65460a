import { GatewayError } from '../domain/errors.ts'
import { parseTime } from '../domain/rfc-3339.ts'
import { MS_PER_DAY } from '../domain/time.ts'
import type { Page, TimeRange } from '../gateway/ports/ledger/ledger-reports.ts'

const LIMIT_DEFAULT = 50
/** A page is built in memory. */
const LIMIT_MAX = 500

/** The page that a client asks for: the first one if there is no cursor. */
export type PageQuery = { readonly limit: number; readonly cursor: string | undefined }

/** Throws `invalid_field` for a parameter that is not `known`, instead of ignoring it. */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): void {
  const stray = query.keys().find(name => !known.includes(name))
  if (stray !== undefined)
    throw wrongParameter(stray, `is not a parameter of this route; the parameters are ${known.join(', ')}`)
}

/** Reads `?limit=` and `?cursor=`, which is the `next` of the previous page. Throws `invalid_field`. */
export function readPage(query: URLSearchParams): PageQuery {
  const limitText = query.get('limit') ?? String(LIMIT_DEFAULT)
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > LIMIT_MAX) {
    throw wrongParameter('limit', `must be a whole number from 1 to ${LIMIT_MAX}`)
  }
  return { limit, cursor: query.get('cursor') ?? undefined }
}

/** The rows to read for a page of a list with the newest rows first: one more than the page shows. */
export function rowsBefore({ limit, cursor }: PageQuery): Page {
  return cursor === undefined ? { limit: limit + 1 } : { limit: limit + 1, before: cursor }
}

/** One page of a list. */
type PageReply<Row> = {
  readonly data: readonly Row[]
  readonly has_more: boolean
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** Builds a page from up to one row more than `limit`. */
export function pageOf<Line, Row>(
  lines: readonly Line[],
  limit: number,
  { cursorOf, rowOf }: { readonly cursorOf: (line: Line) => string; readonly rowOf: (line: Line) => Row },
): PageReply<Row> {
  const shown = lines.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = lines.length > limit && last !== undefined
  return { data: shown.map(rowOf), has_more: hasMore, next: hasMore ? cursorOf(last) : null }
}

const DAYS_MAX = 92
const EXAMPLE = 'such as 2026-11-01T00:00:00Z'

/**
 * Reads `?from=` and `?to=`, times in RFC 3339. `from` is included and `to` is not. Without `to`, the range
 * ends now. Undefined without both. Throws `invalid_field` for any other text, and for a range that is empty or longer
 * than 92 days.
 */
export function readTimeRange(query: URLSearchParams, nowMs: number): TimeRange | undefined {
  const [from, to] = [query.get('from'), query.get('to')]
  if (from === null && to === null) return undefined
  if (from === null)
    throw wrongParameter('from', `is missing; write the time at which the range begins, ${EXAMPLE}`)
  const range = { fromMs: readTime('from', from), toMs: to === null ? nowMs : readTime('to', to) }
  const end = to === null ? 'now, because there is no "to"' : `"to"`
  if (range.fromMs >= range.toMs) throw wrongParameter('from', `must be before ${end}`)
  if (range.toMs - range.fromMs > DAYS_MAX * MS_PER_DAY)
    throw wrongParameter('from', `must be at most ${DAYS_MAX} days before ${end}`)
  return range
}

/**
 * Like `readTimeRange`, for a list that is read page by page however long the range is: each of the two may be missing.
 */
export function readOpenRange(query: URLSearchParams): TimeRange | undefined {
  const [from, to] = [query.get('from'), query.get('to')]
  if (from === null && to === null) return undefined
  const fromMs = from === null ? 0 : readTime('from', from)
  const toMs = to === null ? Number.MAX_SAFE_INTEGER : readTime('to', to)
  if (fromMs >= toMs) throw wrongParameter('from', 'must be before "to"')
  return { fromMs, toMs }
}

/** Like `readTimeRange`, for whole days in UTC: without both, the current month, and without `to`, until today. */
export function readDayRange(query: URLSearchParams, nowMs: number): TimeRange {
  const { fromMs, toMs } = readTimeRange(query, nowMs) ?? { fromMs: startOfMonth(nowMs), toMs: nowMs }
  for (const [name, atMs] of [['from', fromMs] as const, ['to', toMs] as const])
    if (query.has(name) && atMs % MS_PER_DAY !== 0)
      throw wrongParameter(name, `must be the start of a day in UTC, ${EXAMPLE}`)
  return { fromMs, toMs: Math.ceil(toMs / MS_PER_DAY) * MS_PER_DAY }
}

function startOfMonth(atMs: number): number {
  const at = new Date(atMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth())
}

/**
 * Reads a time in RFC 3339 from 1970 on, in milliseconds. Throws `invalid_field`, which names the parameter or field.
 */
export function readTime(name: string, text: string): number {
  // A `+` in a query is read as a space unless it is escaped.
  const atMs = parseTime(text.replace(' ', '+'))
  if (atMs !== undefined) return atMs
  throw wrongParameter(name, `must be a time in RFC 3339, ${EXAMPLE}`)
}

/** The error for a parameter; `problem` completes the sentence that begins with its name. */
export function wrongParameter(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
