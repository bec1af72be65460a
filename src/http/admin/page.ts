import { GatewayError } from '../../domain/errors.ts'
import { wrongField } from './body.ts'

const LIMIT_DEFAULT = 50
/** A page is made in memory whole. */
const LIMIT_MAX = 200
const CURSOR = /^\d{1,19}$/
const CURSOR_MAX = 2n ** 63n - 1n

export type PageQuery = { readonly limit: number; readonly cursor: bigint | undefined }

/** `?limit=` and `?cursor=`, the `next` of the page before. Throws `invalid_field`. */
export function readPage(query: URLSearchParams, others: readonly string[] = []): PageQuery {
  const known = ['limit', 'cursor', ...others]
  const stray = query.keys().find(name => !known.includes(name))
  if (stray !== undefined) throw wrongField(stray, `is not known here; ${known.join(', ')} can be asked for`)

  const limitText = query.get('limit') ?? String(LIMIT_DEFAULT)
  const limit = /^\d{1,4}$/.test(limitText) ? Number(limitText) : 0
  if (limit < 1 || limit > LIMIT_MAX) {
    throw wrongField('limit', `must be a whole number from 1 to ${LIMIT_MAX}`)
  }
  const cursorText = query.get('cursor')
  if (cursorText === null) return { limit, cursor: undefined }
  if (!CURSOR.test(cursorText) || BigInt(cursorText) > CURSOR_MAX) {
    throw wrongField('cursor', 'must be the "next" of an earlier page')
  }
  return { limit, cursor: BigInt(cursorText) }
}

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

/** ISO 8601, in UTC with milliseconds. */
export function instant(atMs: number): string {
  return new Date(atMs).toISOString()
}

/** Throws `not_found` for what there is none of. */
export function found<Value>(value: Value | undefined, sentence: string): Value {
  if (value === undefined) throw new GatewayError('not_found', sentence)
  return value
}
