import { expect, test } from 'bun:test'
import { parseTime } from './rfc-3339.ts'

test.each([
  ['2026-11-01T00:00:00Z', Date.UTC(2026, 10, 1)],
  ['2026-11-01t02:00:00.5+02:00', Date.UTC(2026, 10, 1) + 500],
  ['2028-02-29T23:59:59z', Date.UTC(2028, 1, 29, 23, 59, 59)],
])('the time %s is read', (text, atMs) => {
  expect(parseTime(text)).toBe(atMs)
})

test.each([
  '2026-11-01',
  '2026-11-01T00:00:00',
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-11-01T24:00:00Z',
  '1969-12-31T23:59:59Z',
  '1793491200',
  '',
])('the text "%s" is not a time', text => {
  expect(parseTime(text)).toBeUndefined()
})
