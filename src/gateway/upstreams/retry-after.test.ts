import { expect, test } from 'bun:test'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.parse('2027-01-15T08:00:00Z')

test.each([
  ['0', 0],
  ['7', 7_000],
  [' 120 ', 120_000],
  ['Fri, 15 Jan 2027 08:00:30 GMT', 30_000],
  ['Fri, 15 Jan 2027 07:00:00 GMT', 0],
])('a Retry-After of "%s" is a wait of %d ms', (header, waitMs) => {
  const wait = retryAfterMs(header, NOW)

  expect(wait).toBe(waitMs)
})

test.each([undefined, '', '-5', '1.5', 'soon', '9'.repeat(20)])(
  'a Retry-After of "%s" is ignored',
  header => {
    const wait = retryAfterMs(header, NOW)

    expect(wait).toBeUndefined()
  },
)
