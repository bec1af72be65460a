import { GatewayError } from '../domain/errors.ts'
import type { Page } from '../gateway/ports/ledger.ts'

const LIMIT_DEFAULT = 50
/** A page is built in memory. */
const LIMIT_MAX = 500

/** The page that a client asks for: the first one if there is no cursor. */
export type PageQuery = { readonly limit: number; readonly cursor: string | undefined }

/** Throws `invalid_field` for a parameter that is not `known`, instead of ignoring it. */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): void {
  const stray = query.keys().find(name => !known.includes(name))
  if (stray !== undefined)
    throw wrong(stray, `is not a parameter of this route; the parameters are ${known.join(', ')}`)
}

/** Reads `?limit=` and `?cursor=`, which is the `next` of the previous page. Throws `invalid_field`. */
export function readPage(query: URLSearchParams): PageQuery {
  const limitText = query.get('limit') ?? String(LIMIT_DEFAULT)
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > LIMIT_MAX) {
    throw wrong('limit', `must be a whole number from 1 to ${LIMIT_MAX}`)
  }
  return { limit, cursor: query.get('cursor') ?? undefined }
}

/** The rows to read for a page of a list with the newest rows first: one more than the page shows. */
export function rowsBefore({ limit, cursor }: PageQuery): Page {
  return cursor === undefined ? { limit: limit + 1 } : { limit: limit + 1, before: cursor }
}

/** One page of a list. */
export type PageReply<Row> = {
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

function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
