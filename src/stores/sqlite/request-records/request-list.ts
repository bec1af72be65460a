import type { Database } from 'bun:sqlite'
import type { RequestPage, RequestQuery, RequestSort } from '../../../gateway/ports/request-records.ts'
import { ROW_ID_MAX, unknownCursor } from '../../books/cursors.ts'
import { recordedRequestOf, type StoredRequestRow } from './request-rows.ts'

/** The value by which a list is sorted, from high to low. Rows with the same value are sorted by their number. */
const sortValues = {
  newest: 'at_ms',
  // A request without a cost comes after one that was free.
  cost: 'coalesce(cost, -1)',
  duration: 'duration_us',
} as const satisfies Record<RequestSort, string>

const CURSOR = /^(newest|cost|duration)(-?\d{1,19})r(\d{1,19})$/

/** The value and the number of the last row of a page. */
type RequestPlace = { readonly value: bigint; readonly rowNumber: bigint }

/** Throws `invalid_field` for a text that is not a cursor of this sort. */
export function readRequestCursor({
  cursor,
  sort = 'newest',
}: Pick<RequestQuery, 'cursor' | 'sort'>): RequestPlace | undefined {
  if (cursor === undefined) return undefined
  const [, name, value = '', rowNumber = ''] = CURSOR.exec(cursor) ?? []
  const place = { value: BigInt(value), rowNumber: BigInt(rowNumber) }
  if (name !== sort || place.value > ROW_ID_MAX || place.value < -1n || place.rowNumber > ROW_ID_MAX)
    throw unknownCursor()
  return place
}

/**
 * Reads one page. Every filter but the tag has an index; a tag is looked for in the rows that the rest leaves, and a
 * list by cost or duration sorts them all.
 */
export function listRequests(database: Database, query: RequestQuery): RequestPage {
  const { sort = 'newest', limit } = query
  const { sql, values } = conditionsOf(query)
  const value = sortValues[sort]
  const rows = database
    .query<StoredRequestRow & { sort_value: bigint }, (string | number | bigint)[]>(
      `SELECT *, ${value} AS sort_value FROM requests
        ${sql.length === 0 ? '' : `WHERE ${sql.join(' AND ')}`}
        ORDER BY ${value} DESC, row_number DESC LIMIT ?`,
    )
    .all(...values, limit + 1)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    requests: shown.map(recordedRequestOf),
    ...(rows.length > limit && last && { next: `${sort}${last.sort_value}r${last.row_number}` }),
  }
}

type Conditions = { readonly sql: string[]; readonly values: (string | number | bigint)[] }

function conditionsOf(query: RequestQuery): Conditions {
  const { accountId, apiKeyId, projectId, model, errorCode, userId, tag, between, sort = 'newest' } = query
  const found: Conditions = { sql: [], values: [] }
  const add = (sql: string, ...values: (string | number | bigint)[]) => {
    found.sql.push(sql)
    found.values.push(...values)
  }
  if (accountId !== undefined) add('account_id = ?', accountId)
  if (apiKeyId !== undefined) add('api_key_id = ?', apiKeyId)
  if (projectId !== undefined) add('project_id = ?', projectId)
  if (model !== undefined) add('model = ?', model)
  if (errorCode !== undefined) add('error_code = ?', errorCode)
  if (userId !== undefined) add('user_id = ?', userId)
  if (tag !== undefined)
    add('EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? AND value = ?)', tag.name, tag.value)
  if (query.isFailed === true) add(IS_FAILED)
  if (between !== undefined) add('at_ms >= ? AND at_ms < ?', between.fromMs, between.toMs)
  const place = readRequestCursor(query)
  if (place !== undefined) add(`(${sortValues[sort]}, row_number) < (?, ?)`, place.value, place.rowNumber)
  return found
}

/** The same expression as in the index. */
export const IS_FAILED = '(error_code IS NOT NULL OR status >= 400)'
