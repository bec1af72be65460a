import type {
  RequestPage,
  RequestQuery,
  RequestSort,
} from '../../../gateway/ports/requests/request-records.ts'
import { pageOf, ROW_ID_MAX, unknownCursor } from '../cursors.ts'
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

/** What differs between the databases. */
export type RequestSql = {
  /** The members of the JSON object `tags`, as rows with a key and a value. */
  readonly tagRows: string
  /** The part of an id that the indexes of accounts and keys have, if they do not have all of it. */
  readonly indexedPart?: (id: string) => string
}

/** A row of a list. */
export type ListedRequestRow = StoredRequestRow & { readonly sort_value: bigint }

/**
 * The query of one page, with a row more than the page, which tells whether there is another one. Every filter but the
 * tag has an index; a tag is looked for in the rows that the rest leaves. A list by cost or duration sorts them all.
 */
export function requestListQuery(query: RequestQuery, dialect: RequestSql): Conditions {
  const { sort = 'newest', limit } = query
  const { sql, values } = conditionsOf(query, dialect)
  const value = sortValues[sort]
  return {
    sql: [
      `SELECT *, ${value} AS sort_value FROM requests`,
      ...(sql === '' ? [] : [`WHERE ${sql}`]),
      `ORDER BY ${value} DESC, row_number DESC LIMIT ?`,
    ].join(' '),
    values: [...values, limit + 1],
  }
}

/** The page of the rows that its query found. */
export function requestPageOf(
  rows: readonly ListedRequestRow[],
  { sort = 'newest', limit }: RequestQuery,
): RequestPage {
  const cursorOfRow = (last: ListedRequestRow) => `${sort}${last.sort_value}r${last.row_number}`
  const { shown, ...next } = pageOf(rows, limit, cursorOfRow)
  return { requests: shown.map(recordedRequestOf), ...next }
}

/** Finds the request that made a job. A repeat with the same idempotency key gets the same job. */
export const FIND_REQUEST_BY_JOB =
  'SELECT * FROM requests WHERE job_id = ? ORDER BY is_replay, row_number LIMIT 1'

/** SQL with a question mark for each value. */
type Conditions = { readonly sql: string; readonly values: readonly RequestValue[] }

type RequestValue = string | number | bigint

function conditionsOf(query: RequestQuery, { tagRows, indexedPart }: RequestSql): Conditions {
  const {
    accountId,
    apiKeyId,
    projectId,
    model,
    errorCode,
    status,
    userId,
    tag,
    between,
    sort = 'newest',
  } = query
  const conditions: string[] = []
  const values: RequestValue[] = []
  const add = (sql: string, ...added: RequestValue[]) => {
    conditions.push(sql)
    values.push(...added)
  }
  const addId = (column: string, id: string) => {
    add(`${column} = ?`, id)
    if (indexedPart !== undefined) add(`${indexedPart(column)} = ${indexedPart('?')}`, id)
  }
  if (accountId !== undefined) addId('account_id', accountId)
  if (apiKeyId !== undefined) addId('api_key_id', apiKeyId)
  if (projectId !== undefined) add('project_id = ?', projectId)
  if (model !== undefined) add('model = ?', model)
  if (errorCode !== undefined) add('error_code = ?', errorCode)
  if (status !== undefined) {
    add('status = ?', status)
    // Then the index of failed requests serves.
    if (status >= 400) add(IS_FAILED)
  }
  if (userId !== undefined) add('user_id = ?', userId)
  if (tag !== undefined)
    add(`EXISTS (SELECT 1 FROM ${tagRows} WHERE key = ? AND value = ?)`, tag.name, tag.value)
  if (query.isFailed === true) add(IS_FAILED)
  if (between !== undefined) add('at_ms >= ? AND at_ms < ?', between.fromMs, between.toMs)
  const place = readRequestCursor(query)
  if (place !== undefined) add(`(${sortValues[sort]}, row_number) < (?, ?)`, place.value, place.rowNumber)
  return { sql: conditions.join(' AND '), values }
}

/** The same expression as in the index. */
export const IS_FAILED = '(error_code IS NOT NULL OR status >= 400)'
