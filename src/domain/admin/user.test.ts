import { expect, test } from 'bun:test'
import { sessionEndsAtMs } from './user.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

test.each([
  ['12 hours after its sign-in if it is not used', 0, 12 * HOUR_MS],
  ['12 hours after its last use', 5 * DAY_MS, 5 * DAY_MS + 12 * HOUR_MS],
  ['30 days after its sign-in, however often it is used', 30 * DAY_MS - 1, 30 * DAY_MS],
])('a session ends %s', (_, usedAtMs, expected) => {
  expect(sessionEndsAtMs({ createdAtMs: 0, usedAtMs })).toBe(expected)
})
