import { expect, test } from 'bun:test'
import { readRetryAfter } from './read-answer.ts'

test.each([
  ['0', 0],
  ['7', 7_000],
  [' 120 ', 120_000],
])('a Retry-After of "%s" is a wait of %d ms', (header, delayMs) => {
  expect(readRetryAfter(header)).toEqual({ text: header, delayMs })
})

test.each([
  ['Fri, 15 Jan 2027 08:00:30 GMT', '2027-01-15T08:00:30Z'],
  ['Friday, 15-Jan-27 08:00:30 GMT', '2027-01-15T08:00:30Z'],
])('a Retry-After of "%s" ends at %s', (header, until) => {
  expect(readRetryAfter(header)).toEqual({ text: header, untilMs: Date.parse(until) })
})

test.each(['', '-5', '1.5', 'soon', '9'.repeat(20)])('a Retry-After of "%s" is only passed on', header => {
  expect(readRetryAfter(header)).toEqual({ text: header })
})
