import { expect, test } from 'bun:test'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.parse('2027-01-15T08:00:00Z')

test.each([
  ['a wait in seconds', { text: '7', delayMs: 7_000 }, 7_000],
  ['the time until a date', { text: 'a date', untilMs: NOW + 30_000 }, 30_000],
  ['no wait for a date in the past', { text: 'a date', untilMs: NOW - 30_000 }, 0],
  ['nothing for a text that cannot be read', { text: 'soon' }, undefined],
  ['nothing without a text', undefined, undefined],
])('an upstream asks for %s', (_, retryAfter, waitMs) => {
  expect(retryAfterMs(retryAfter, NOW)).toBe(waitMs)
})
