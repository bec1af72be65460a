import { describe, expect, test } from 'bun:test'
import { bucketOfMs, percentileMs } from './request-report.ts'

function histogram(times: readonly number[]): ReadonlyMap<number, number> {
  const buckets = new Map<number, number>()
  for (const ms of times) buckets.set(bucketOfMs(ms), (buckets.get(bucketOfMs(ms)) ?? 0) + 1)
  return buckets
}

describe('percentiles', () => {
  test.each([0.5, 0.9, 0.99, 1])('the percentile %p is at most 4.5 %% from the exact one', part => {
    const times = Array.from({ length: 5000 }, (_, index) => 0.05 * 1.004 ** index)

    const exact = times[Math.ceil(part * times.length) - 1]!

    expect(Math.abs(percentileMs(histogram(times), part)! / exact - 1)).toBeLessThan(0.045)
  })

  test('without requests, there is no percentile', () => {
    expect(percentileMs(new Map(), 0.5)).toBeNull()
  })

  test('a time of zero is in the first bucket', () => {
    expect(bucketOfMs(0)).toBe(0)
  })
})
