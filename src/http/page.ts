import { GatewayError } from '../domain/errors.ts'
import type { Page } from '../gateway/ports/ledger.ts'

const LIMIT_DEFAULT = 50
/** A page is made in memory whole. */
const LIMIT_MAX = 500
const CURSOR = /^\d{1,19}$/
const CURSOR_MAX = 2n ** 63n - 1n

/** Which page is asked for. Without a cursor, the first. */
export type PageQuery = { readonly limit: number; readonly cursor: bigint | undefined }

/** `?limit=` and `?cursor=`, the `next` of the page before. Throws `invalid_field`, naming the one that is wrong. */
export function readPage(query: URLSearchParams): PageQuery {
  const limitText = query.get('limit') ?? String(LIMIT_DEFAULT)
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > LIMIT_MAX) {
    throw wrong('limit', `must be a whole number from 1 to ${LIMIT_MAX}`)
  }
  const cursorText = query.get('cursor')
  if (cursorText === null) return { limit, cursor: undefined }
  if (!CURSOR.test(cursorText) || BigInt(cursorText) > CURSOR_MAX) {
    throw wrong('cursor', 'must be the "next" of an earlier page')
  }
  return { limit, cursor: BigInt(cursorText) }
}

/** What to read for a page of what is listed newest first: one row more than it shows, which tells whether there is more. */
export function rowsBefore({ limit, cursor }: PageQuery): Page {
  return cursor === undefined ? { limit: limit + 1 } : { limit: limit + 1, before: cursor }
}

/** One page, as every list that can be long is answered. */
export type PageReply<Row> = {
  readonly data: readonly Row[]
  readonly has_more: boolean
  /** The cursor of the next page; null at the end. */
  readonly next: string | null
}

/** A page of rows that were read with one more than `limit`, so that the end is known without another read. */
export function pageOf<Line, Row>(
  lines: readonly Line[],
  limit: number,
  { cursorOf, rowOf }: { readonly cursorOf: (line: Line) => bigint; readonly rowOf: (line: Line) => Row },
): PageReply<Row> {
  const shown = lines.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = lines.length > limit && last !== undefined
  return { data: shown.map(rowOf), has_more: hasMore, next: hasMore ? String(cursorOf(last)) : null }
}

function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
