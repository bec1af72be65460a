/**
 * A bucket of requests or tokens: it holds what a minute allows, and fills up continuously. This is the generic cell
 * rate algorithm (GCRA), kept as what is left instead of as an instant. Both forms give the same answers, but with what
 * is left every number is whole, tokens can be given back, and a clock that is set back changes nothing.
 */
export type RateBucket = {
  /** What was left at `atMs`, in parts. Below zero if requests used more tokens than they had taken: a debt. */
  readonly parts: number
  readonly atMs: number
}

/** The parts of one request or token: a limit of 60 a minute fills 60 parts in each millisecond. */
const PARTS = 60_000
/** The largest limit a minute. A full bucket is then a whole number that is exact. */
export const RATE_MAX = 100_000_000_000

/** How a bucket looks to a client. */
export type RateStatus = {
  /** The limit a minute. */
  readonly limit: number
  readonly remaining: number
  /** The time until the bucket is full. */
  readonly resetMs: number
}

export function fullBucket(perMinute: number, nowMs: number): RateBucket {
  return { parts: perMinute * PARTS, atMs: nowMs }
}

/** The bucket after the time that passed. A smaller limit than before makes a smaller bucket. */
export function filled({ parts, atMs }: RateBucket, perMinute: number, nowMs: number): RateBucket {
  const passedMs = Math.max(0, nowMs - atMs)
  return { parts: Math.min(parts + passedMs * perMinute, perMinute * PARTS), atMs: nowMs }
}

/** The same bucket, for a clock that was set back to before its time. */
export function notAfter(bucket: RateBucket, nowMs: number): RateBucket {
  return bucket.atMs <= nowMs ? bucket : { parts: bucket.parts, atMs: nowMs }
}

/** The time until the bucket holds `count`: 0 if it does now, and undefined if even a full one is too small. */
export function waitMsFor(
  bucket: RateBucket,
  count: number,
  { perMinute, nowMs }: { readonly perMinute: number; readonly nowMs: number },
): number | undefined {
  if (count === 0) return 0
  if (count > perMinute) return undefined
  const missing = count * PARTS - filled(bucket, perMinute, nowMs).parts
  return missing <= 0 ? 0 : Math.ceil(missing / perMinute)
}

/** Takes `count`, or gives back a negative count, at most to a full bucket. */
export function taken(
  bucket: RateBucket,
  count: number,
  { perMinute, nowMs }: { readonly perMinute: number; readonly nowMs: number },
): RateBucket {
  const { parts, atMs } = filled(bucket, perMinute, nowMs)
  const left = Math.max(parts - count * PARTS, Number.MIN_SAFE_INTEGER)
  return { parts: Math.min(left, perMinute * PARTS), atMs }
}

export function rateStatus(bucket: RateBucket, perMinute: number, nowMs: number): RateStatus {
  const { parts } = filled(bucket, perMinute, nowMs)
  return {
    limit: perMinute,
    remaining: Math.max(0, Math.floor(parts / PARTS)),
    resetMs: Math.ceil((perMinute * PARTS - parts) / perMinute),
  }
}
