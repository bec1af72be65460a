import { expect, test } from 'bun:test'
import { median, percentile, slope } from './statistics.ts'

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('the median of %p is %p', (values, middle) => {
  expect(median(values)).toBe(middle)
})

test.each([
  [0.5, 50],
  [0.99, 99],
  [1, 100],
  [0, 1],
])('of 1 to 100, the share %p does not exceed %p', (share, value) => {
  const oneToHundred = Float64Array.from({ length: 100 }, (_, index) => index + 1)

  expect(percentile(oneToHundred, share)).toBe(value)
})

test('the slope of a line with symmetric noise is exact', () => {
  const points = [
    { x: 0, y: 1 },
    { x: 1, y: 4 },
    { x: 2, y: 4 },
    { x: 3, y: 7 },
  ]

  expect(slope(points)).toBeCloseTo(1.8)
})
