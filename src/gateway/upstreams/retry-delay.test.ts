import { describe, expect, test } from 'bun:test'
import { aFailure, anAnswer, aRefusal } from '../../../test/support/upstream-rows.ts'
import { retryDelayMs } from './retry-delay.ts'

const NOW = 1_800_000_000_000

test.each([500, 502, 503])('a whole %d is retried after 250 to 500 ms', status => {
  const failure = { ...aFailure('server'), status }

  expect(retryDelayMs(failure, NOW, () => 0)).toBe(250)
  expect(retryDelayMs(failure, NOW, () => 0.5)).toBe(375)
})

test.each([
  ['0', 250],
  ['1', 1000],
  ['2', 2000],
  [new Date(NOW + 2000).toUTCString(), 2000],
])('a 429 with the Retry-After %s is retried after %d ms', (retryAfter, delayMs) => {
  const failure = { ...aFailure('rate_limited', retryAfter), status: 429 }

  expect(retryDelayMs(failure, NOW, () => 0)).toBe(delayMs)
})

describe('the same upstream is not called again after', () => {
  test.each([
    ['an answer', anAnswer()],
    ['an empty answer', anAnswer({ isEmpty: true })],
    ['a refusal of the request', aRefusal()],
    ['a timeout', { kind: 'timeout' }],
    ['a client that disconnected', { kind: 'aborted' }],
    ['a 429 without a Retry-After', { ...aFailure('rate_limited'), status: 429 }],
    ['a 429 with a longer Retry-After', { ...aFailure('rate_limited', '3'), status: 429 }],
    ['a 503 with a longer Retry-After', { ...aFailure('server', '3'), status: 503 }],
    ['a 504', { ...aFailure('server'), status: 504 }],
    ['a redirect', { ...aFailure('server'), status: 302 }],
    ['an error at the start of a stream', { ...aFailure('server'), status: 200 }],
    ['a connection that broke', aFailure('unreachable')],
    ['a 200 that is not an answer', { ...aFailure('no_answer'), status: 200 }],
    ['a 401', { ...aFailure('unpaid'), status: 401 }],
    ['a 404', { ...aFailure('not_offered'), status: 404 }],
    ['a stream without a first byte', aFailure('first_byte_timeout')],
  ] as const)('%s', (_, result) => {
    expect(retryDelayMs(result, NOW, () => 0)).toBeUndefined()
  })
})
