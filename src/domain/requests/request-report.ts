import { bucketNames, usageBuckets } from '../pricing/usage.ts'

/** What a report of requests is grouped by. */
export const reportGroups = ['day', 'hour', 'status', 'model', 'provider', 'account'] as const
export type ReportGroup = (typeof reportGroups)[number]

/** The kinds of tokens in a report. */
export const tokenKinds = usageBuckets.map(bucket => bucketNames[bucket])
export type TokenKind = (typeof tokenKinds)[number]

/** The times of some requests, in buckets: how many requests are in each. */
export type TimeHistogram = ReadonlyMap<number, number>

/**
 * The buckets of each doubling of a time. A percentile is the middle of its bucket, so it is at most 4.5 % from the
 * exact value: a bucket spans a factor of 2^(1/8).
 */
const BUCKETS_PER_DOUBLING = 8
const US_PER_MS = 1000

/** The bucket of a time. All times of up to a microsecond are in the first one. */
export function bucketOfMs(ms: number): number {
  return Math.max(0, Math.floor(Math.log2(ms * US_PER_MS) * BUCKETS_PER_DOUBLING))
}

/** The time that this part of the requests did not exceed, in milliseconds. Null without requests. */
export function percentileMs(times: TimeHistogram, part: number): number | null {
  const wanted = Math.ceil(part * times.values().reduce((sum, count) => sum + count, 0))
  let below = 0
  for (const bucket of [...times.keys()].sort((left, right) => left - right)) {
    below += times.get(bucket) ?? 0
    if (below >= wanted) return middleMs(bucket)
  }
  return null
}

/** Has three digits, which is more than a bucket knows. */
function middleMs(bucket: number): number {
  return Number((2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING) / US_PER_MS).toPrecision(3))
}

/** The requests of one group, or of all. */
export type RequestSums = {
  /** By provider, these are the calls of the provider. */
  readonly requests: number
  /** Requests with an error code or a status from 400. By provider, the calls that failed. */
  readonly errors: number
  /** Of requests without an error; by status, of all. Empty by account. */
  readonly durations: TimeHistogram
  /** Until the first byte of the reply, of the same requests. */
  readonly firstBytes: TimeHistogram
  readonly tokens: ReadonlyMap<TokenKind, number>
}

export function addUpRequests(all: Iterable<RequestSums>): RequestSums {
  const [durations, firstBytes] = [new Map<number, number>(), new Map<number, number>()]
  const tokens = new Map<TokenKind, number>()
  let [requests, errors] = [0, 0]
  for (const sums of all) {
    requests += sums.requests
    errors += sums.errors
    addTo(durations, sums.durations)
    addTo(firstBytes, sums.firstBytes)
    addTo(tokens, sums.tokens)
  }
  return { requests, errors, durations, firstBytes, tokens }
}

function addTo<Key>(sums: Map<Key, number>, added: ReadonlyMap<Key, number>): void {
  for (const [key, count] of added) sums.set(key, (sums.get(key) ?? 0) + count)
}
