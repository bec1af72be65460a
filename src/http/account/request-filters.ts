import { GatewayError } from '../../domain/errors.ts'
import type {
  RequestFilter,
  RequestQuery,
  RequestSort,
} from '../../gateway/ports/requests/request-records.ts'
import { readPage, readTimeRange, refuseUnknown } from '../list-query.ts'

/** How requests can be sorted, each beginning with the largest. */
export const requestSorts = ['newest', 'cost', 'duration'] as const satisfies readonly RequestSort[]

const CODE = /^[\w.-]{1,200}$/
const PROJECT = /^proj_[0-9a-z]{1,64}$/
const MODEL_CHARS_MAX = 200
const USER_CHARS_MAX = 512
const TAG = /^([^=,]{1,128})=([^,]{1,512})$/

/** The parameters of lists of requests, beside `account` of the admin API. */
const known = [
  'limit',
  'cursor',
  'key',
  'project',
  'model',
  'code',
  'failed',
  'status',
  'tag',
  'user',
  'from',
  'to',
  'sort',
] as const

/**
 * Reads the parameters of a list of requests. `key` is left to the caller, which knows whose keys it can name. Throws
 * `invalid_field` for a parameter that is unknown or wrong.
 */
export function readRequestQuery(
  query: URLSearchParams,
  nowMs: number,
  others: readonly string[] = [],
): RequestQuery {
  refuseUnknown(query, [...others, ...known])
  const { limit, cursor } = readPage(query)
  const between = readTimeRange(query, nowMs)
  const sort = readSort(query)
  return {
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(sort === undefined ? {} : { sort }),
    ...readFilter(query),
    ...(between === undefined ? {} : { between }),
  }
}

function readFilter(query: URLSearchParams): RequestFilter {
  const model = readText(query, 'model', MODEL_CHARS_MAX)
  const userId = readText(query, 'user', USER_CHARS_MAX)
  const projectId = query.get('project') ?? undefined
  if (projectId !== undefined && !PROJECT.test(projectId))
    throw wrong('project', 'must be the id of a project (proj_…)')
  const errorCode = query.get('code') ?? undefined
  if (errorCode !== undefined && !CODE.test(errorCode))
    throw wrong('code', 'must be the code of an error, such as insufficient_balance')
  const status = readStatus(query)
  const tag = readTag(query)
  return {
    ...(model === undefined ? {} : { model }),
    ...(userId === undefined ? {} : { userId }),
    ...(projectId === undefined ? {} : { projectId }),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(status === undefined ? {} : { status }),
    ...(tag === undefined ? {} : { tag }),
    ...(readFailed(query) ? { isFailed: true } : {}),
  }
}

function readText(query: URLSearchParams, name: string, charsMax: number): string | undefined {
  const text = query.get(name) ?? undefined
  if (text !== undefined && (text === '' || text.length > charsMax))
    throw wrong(name, `must be a name of 1 to ${charsMax} characters`)
  return text
}

function readFailed(query: URLSearchParams): boolean {
  const text = query.get('failed')
  if (text !== null && text !== 'true' && text !== 'false') throw wrong('failed', 'must be true or false')
  return text === 'true'
}

function readStatus(query: URLSearchParams): number | undefined {
  const text = query.get('status')
  if (text === null) return undefined
  if (!/^[1-5]\d\d$/.test(text)) throw wrong('status', 'must be the status of a reply, such as 429')
  return Number(text)
}

function readTag(query: URLSearchParams): RequestFilter['tag'] {
  const text = query.get('tag')
  if (text === null) return undefined
  const [, name, value] = TAG.exec(text) ?? []
  if (name === undefined || value === undefined || query.getAll('tag').length > 1)
    throw wrong('tag', 'must be one name and value, such as team=search')
  return { name, value }
}

function readSort(query: URLSearchParams): RequestSort | undefined {
  const text = query.get('sort')
  if (text === null) return undefined
  const sort = requestSorts.find(each => each === text)
  if (sort === undefined) throw wrong('sort', `must be one of ${requestSorts.join(', ')}`)
  return sort
}

function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
