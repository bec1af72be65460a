import { usageBuckets } from '../../../domain/pricing/usage.ts'
import {
  bucketOfMs,
  tokenKinds,
  type ReportGroup,
  type RequestSums,
  type TokenKind,
} from '../../../domain/requests/request-report.ts'
import type {
  RecordBatch,
  RecordedRequest,
  RequestReportQuery,
} from '../../../gateway/ports/requests/request-records.ts'

/**
 * The counts of requests, by day and, for all requests together, by hour. Each record of a batch is added to five of
 * them when it is written, so that a report of millions of records reads a few thousand rows. They are kept for as long
 * as a report can reach, which is longer than the records.
 */
export type RequestCount = readonly [
  dimension: Dimension,
  /** When the hour or the day begins. */
  fromMs: number,
  /** The status, the model, the provider or the account; empty for all requests. */
  name: string,
  measure: Measure,
  /** Of a measure of time; otherwise 0. */
  bucket: number,
  count: number,
]

const dimensions = ['all', 'status', 'model', 'provider', 'account'] as const
type Dimension = (typeof dimensions)[number]
type Measure = 'requests' | 'errors' | 'duration' | 'first_byte' | TokenKind

const MS_PER_HOUR = 3_600_000
const MS_PER_DAY = 86_400_000
/** The longest time range of a report, and the day that has begun. */
const KEPT_DAYS = 93

export const COUNT_COLUMNS = {
  dimension: 'TEXT NOT NULL',
  from_ms: 'INTEGER NOT NULL',
  name: 'TEXT NOT NULL',
  measure: 'TEXT NOT NULL',
  bucket: 'INTEGER NOT NULL',
  count: 'INTEGER NOT NULL',
} as const

/** Deletes the counts of one dimension that are too old. */
export const DELETE_OLD_COUNTS = 'DELETE FROM request_counts WHERE dimension = ? AND from_ms < ?'

export function oldCounts(nowMs: number): readonly (readonly [dimension: Dimension, beforeMs: number])[] {
  return dimensions.map(dimension => [dimension, nowMs - KEPT_DAYS * MS_PER_DAY])
}

/** What is counted of a request, beside its tokens. */
export type CountedRequest = Pick<
  RecordedRequest,
  'atMs' | 'status' | 'model' | 'accountId' | 'errorCode' | 'durationMs' | 'firstByteMs' | 'attempts'
>

/** Refusals that have no record of their own. They called no provider. */
export type CountedRefusals = Pick<RecordedRequest, 'atMs' | 'status' | 'model' | 'accountId'> & {
  readonly count: number
}

/** The tokens of all requests of a batch, one after the other: those of a request are in the order of `tokenKinds`. */
export function tokensOf(requests: readonly RecordedRequest[]): Float64Array {
  const tokens = new Float64Array(requests.length * usageBuckets.length)
  for (const [index, { usage }] of requests.entries()) {
    if (usage === undefined) continue
    const first = index * usageBuckets.length
    for (const [kind, bucket] of usageBuckets.entries()) tokens[first + kind] = usage[bucket]
  }
  return tokens
}

export function countedRefusals({
  onlyCounted = [],
}: Pick<RecordBatch, 'onlyCounted'>): readonly CountedRefusals[] {
  return onlyCounted.map(({ request: { atMs, status, model, accountId }, count: refused }) => ({
    atMs,
    status,
    model,
    accountId,
    count: refused,
  }))
}

/** What a batch adds to the counts, in one order for all nodes, so that two of them never wait for each other. */
export function countsOf({
  requests,
  tokens,
  refusals,
}: {
  readonly requests: readonly CountedRequest[]
  /** See `tokensOf`. */
  readonly tokens: Float64Array
  readonly refusals: readonly CountedRefusals[]
}): readonly RequestCount[] {
  const sums = new CountSums()
  for (const [index, request] of requests.entries())
    addRequest(sums, request, tokens.subarray(index * usageBuckets.length))
  for (const refused of refusals) addRefusals(sums, refused)
  return sums.counts()
}

/** `tokens` begins with those of the request. */
function addRequest(sums: CountSums, request: CountedRequest, tokens: Float64Array): void {
  const { atMs, status, model, accountId, durationMs, firstByteMs, attempts } = request
  const errors = isFailed(request) ? 1 : 0
  const all = sums.of('all', atMs, '')
  const ofModel = model === undefined ? undefined : sums.of('model', atMs, model)
  const ofStatus = sums.of('status', atMs, String(status))
  const ofAccount = sums.of('account', atMs, accountId)
  const served = attempts.at(-1)?.reason === undefined ? attempts.at(-1)?.provider : undefined
  for (const { provider, reason } of attempts)
    // A request that an upstream refuses is an error of the client.
    count(sums.of('provider', atMs, provider), 1, reason === undefined || reason === 'refused' ? 0 : 1)
  const ofProvider = served === undefined ? undefined : sums.of('provider', atMs, served)
  for (const group of [all, ofModel, ofStatus, ofAccount]) if (group) count(group, 1, errors)
  const duration = bucketOfMs(durationMs)
  const firstByte = firstByteMs === undefined ? undefined : bucketOfMs(firstByteMs)
  for (const group of [all, ofModel, ofStatus, ofProvider]) {
    if (group === undefined || (errors > 0 && group !== ofStatus)) continue
    addTo(group.durations, duration, 1)
    if (firstByte !== undefined) addTo(group.firstBytes, firstByte, 1)
  }
  for (const [place, kind] of tokenKinds.entries()) {
    const added = tokens[place] ?? 0
    if (added === 0) continue
    for (const group of [all, ofModel, ofProvider, ofAccount]) if (group) addTo(group.tokens, kind, added)
  }
}

function addRefusals(
  sums: CountSums,
  { atMs, status, model, accountId, count: refused }: CountedRefusals,
): void {
  count(sums.of('all', atMs, ''), refused, refused)
  count(sums.of('status', atMs, String(status)), refused, refused)
  count(sums.of('account', atMs, accountId), refused, refused)
  if (model !== undefined) count(sums.of('model', atMs, model), refused, refused)
}

function isFailed({ status, errorCode }: Pick<RecordedRequest, 'status' | 'errorCode'>): boolean {
  return errorCode !== undefined || status >= 400
}

type Group = { -readonly [Name in keyof RequestSums]: RequestSums[Name] } & {
  readonly durations: Map<number, number>
  readonly firstBytes: Map<number, number>
  readonly tokens: Map<TokenKind, number>
}

function count(group: Group, requests: number, errors: number): void {
  group.requests += requests
  group.errors += errors
}

function addTo<Key>(sums: Map<Key, number>, key: Key, added: number): void {
  sums.set(key, (sums.get(key) ?? 0) + added)
}

function noRequests(): Group {
  return { requests: 0, errors: 0, durations: new Map(), firstBytes: new Map(), tokens: new Map() }
}

/** The sums of a batch. Nearly all of its requests are of one hour, so few groups are made. */
class CountSums {
  readonly #groups = new Map<Dimension, Map<number, Map<string, Group>>>()

  of(dimension: Dimension, atMs: number, name: string): Group {
    const fromMs = startOf(dimension, atMs)
    let periods = this.#groups.get(dimension)
    if (periods === undefined) this.#groups.set(dimension, (periods = new Map()))
    let names = periods.get(fromMs)
    if (names === undefined) periods.set(fromMs, (names = new Map()))
    let group = names.get(name)
    if (group === undefined) names.set(name, (group = noRequests()))
    return group
  }

  counts(): readonly RequestCount[] {
    const counts: RequestCount[] = []
    for (const [dimension, periods] of inOrder(this.#groups))
      for (const [fromMs, names] of inOrder(periods))
        for (const [name, group] of inOrder(names)) addCounts(counts, [dimension, fromMs, name], group)
    return counts
  }
}

/** Adds what a group counted. Most groups are of accounts, with few measures and no times. */
function addCounts(
  counts: RequestCount[],
  [dimension, fromMs, name]: readonly [Dimension, number, string],
  group: Group,
): void {
  const add = (measure: Measure, bucket: number, added: number) => {
    if (added > 0) counts.push([dimension, fromMs, name, measure, bucket, added])
  }
  add('requests', 0, group.requests)
  add('errors', 0, group.errors)
  if (group.durations.size > 0)
    for (const [bucket, added] of inOrder(group.durations)) add('duration', bucket, added)
  if (group.firstBytes.size > 0)
    for (const [bucket, added] of inOrder(group.firstBytes)) add('first_byte', bucket, added)
  if (group.tokens.size > 0) for (const kind of tokenKinds) add(kind, 0, group.tokens.get(kind) ?? 0)
}

/** Sorts each map by itself, which takes a tenth of the time of sorting all counts. */
function inOrder<Key extends string | number, Value>(
  map: ReadonlyMap<Key, Value>,
): readonly (readonly [Key, Value])[] {
  return map.size === 1 ? [...map] : [...map].sort(([left], [right]) => (left < right ? -1 : 1))
}

/** Hours for all requests, so that a report can show them. Days for the rest, of which there can be many. */
function startOf(dimension: Dimension, atMs: number): number {
  const length = dimension === 'all' ? MS_PER_HOUR : MS_PER_DAY
  return Math.floor(atMs / length) * length
}

/** A row of `countQuery`. */
export type CountRow = {
  readonly name: string
  readonly from_ms: bigint
  readonly measure: Measure
  readonly bucket: bigint
  readonly count: bigint
}

/** Reads the counts of a report. */
export function countQuery({ by, between }: RequestReportQuery): {
  readonly sql: string
  readonly values: readonly (string | number)[]
} {
  const isByTime = by === 'day' || by === 'hour'
  const group = isByTime ? 'from_ms' : 'name'
  return {
    sql: `SELECT ${isByTime ? "'' AS name, from_ms" : 'name, 0 AS from_ms'}, measure, bucket,
      CAST(sum(count) AS bigint) AS count FROM request_counts
      WHERE dimension = ? AND from_ms >= ? AND from_ms < ? GROUP BY ${group}, measure, bucket`,
    values: [isByTime ? 'all' : by, between.fromMs, between.toMs],
  }
}

/** The sums of each group of a report. */
export function requestSumsOf(rows: readonly CountRow[], by: ReportGroup): ReadonlyMap<string, RequestSums> {
  const groups = new Map<string, Group>()
  for (const row of rows) {
    const name = groupName(row, by)
    let group = groups.get(name)
    if (group === undefined) groups.set(name, (group = noRequests()))
    addRow(group, row)
  }
  return groups
}

function groupName({ name, from_ms: fromMs }: CountRow, by: ReportGroup): string {
  if (by !== 'day' && by !== 'hour') return name
  const time = new Date(Number(fromMs)).toISOString()
  return by === 'hour' ? time : time.slice(0, 10)
}

function addRow(group: Group, { measure, bucket, count: added }: CountRow): void {
  if (measure === 'requests') group.requests += Number(added)
  else if (measure === 'errors') group.errors += Number(added)
  else if (measure === 'duration') addTo(group.durations, Number(bucket), Number(added))
  else if (measure === 'first_byte') addTo(group.firstBytes, Number(bucket), Number(added))
  else if (tokenKinds.includes(measure)) addTo(group.tokens, measure, Number(added))
}
