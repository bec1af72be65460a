import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { filled, fullBucket, rateStatus, taken, waitMsFor, type RateBucket } from './rate-bucket.ts'

const SIXTY = { perMinute: 60, nowMs: 0 }

test('a full bucket admits a whole minute at once, and then one request for each interval', () => {
  const empty = taken(fullBucket(60, 0), 60, SIXTY)

  expect(waitMsFor(fullBucket(60, 0), 60, SIXTY)).toBe(0)
  expect(waitMsFor(empty, 1, SIXTY)).toBe(1000)
  expect(waitMsFor(empty, 1, { perMinute: 60, nowMs: 999 })).toBe(1)
  expect(waitMsFor(empty, 1, { perMinute: 60, nowMs: 1000 })).toBe(0)
})

test('the wait is exact for a limit that does not divide a minute', () => {
  const empty = taken(fullBucket(7, 0), 7, { perMinute: 7, nowMs: 0 })

  const waitMs = waitMsFor(empty, 1, { perMinute: 7, nowMs: 0 })!

  expect(waitMs).toBe(8572)
  expect(waitMsFor(empty, 1, { perMinute: 7, nowMs: waitMs - 1 })).toBe(1)
  expect(waitMsFor(empty, 1, { perMinute: 7, nowMs: waitMs })).toBe(0)
})

test('a request that is larger than the whole bucket never fits', () => {
  expect(waitMsFor(fullBucket(60, 0), 61, SIXTY)).toBeUndefined()
})

test('tokens that are given back can be taken again, and never more than a full bucket', () => {
  const given = taken(taken(fullBucket(60, 0), 50, SIXTY), -90, SIXTY)

  expect(given).toEqual(fullBucket(60, 0))
})

test('a debt stays in the bucket until time has paid it', () => {
  const debt = taken(taken(fullBucket(60, 0), 60, SIXTY), 60, SIXTY)

  expect(waitMsFor(debt, 1, SIXTY)).toBe(61_000)
  expect(rateStatus(debt, 60, 0)).toEqual({ limit: 60, remaining: 0, resetMs: 120_000 })
})

test('a clock that is set back neither fills nor drains a bucket', () => {
  const half = taken(fullBucket(60, 1_000_000), 30, { perMinute: 60, nowMs: 1_000_000 })

  expect(rateStatus(half, 60, 0)).toEqual({ limit: 60, remaining: 30, resetMs: 30_000 })
  expect(filled(half, 60, 0).atMs).toBe(0)
})

test('a smaller limit makes a smaller bucket', () => {
  expect(rateStatus(fullBucket(600, 0), 60, 0)).toEqual({ limit: 60, remaining: 60, resetMs: 0 })
})

test('in any minute, at most twice the limit is admitted, and the limit in the long run', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 })

  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 100 }), (pauses, perMinute) => {
      let bucket: RateBucket = fullBucket(perMinute, 0)
      let nowMs = 0
      let admitted = 0
      for (const pauseMs of pauses) {
        nowMs += pauseMs
        while (waitMsFor(bucket, 1, { perMinute, nowMs }) === 0) {
          bucket = taken(bucket, 1, { perMinute, nowMs })
          admitted += 1
        }
      }
      expect(admitted).toBeLessThanOrEqual(perMinute + Math.floor((nowMs * perMinute) / 60_000))
    }),
  )
})
