import { describe, expect, test } from 'bun:test'
import { aFailure, aRefusal, anAnswer } from '../../../test/support/upstream-rows.ts'
import {
  healthSignal,
  retryAfterMs,
  selectResult,
  shouldFailOver,
  type CallResult,
} from './attempt-result.ts'

const NOW = 1_800_000_000_000
const empty = anAnswer({ isEmpty: true })
const timeout: CallResult = { kind: 'timeout' }
const aborted: CallResult = { kind: 'aborted' }
const stream: CallResult = { kind: 'stream', status: 200 }

describe('a request', () => {
  test.each<[string, CallResult]>([
    ['a connection failure', aFailure('unreachable')],
    ['a 5xx', aFailure('server')],
    ['a 200 that is not an answer', aFailure('no_answer')],
    ['a 429', aFailure('rate_limited')],
    ['a 401 or 402', aFailure('unpaid')],
    ['a 403 or 404', aFailure('not_offered')],
    ['an empty answer', empty],
  ])('a request fails over after %s', (_, result) => {
    expect(shouldFailOver(result)).toBe(true)
  })

  test.each<[string, CallResult]>([
    ['an answer', anAnswer()],
    ['an opened stream', stream],
    ['any other 4xx', aRefusal()],
    ['a timeout, because this upstream may still answer and bill', timeout],
    ['a disconnect of its client', aborted],
  ])('a request does not fail over after %s', (_, result) => {
    expect(shouldFailOver(result)).toBe(false)
  })
})

describe('the health signal', () => {
  test.each<[string, string, CallResult]>([
    ['an answer', 'healthy', anAnswer()],
    ['an empty answer', 'healthy', empty],
    ['an opened stream', 'healthy', stream],
    ['a refusal of the request', 'healthy', aRefusal()],
    ['a connection failure', 'unhealthy', aFailure('unreachable')],
    ['a 5xx', 'unhealthy', aFailure('server')],
    ['a 200 that is not an answer', 'unhealthy', aFailure('no_answer')],
    ['a 429', 'unhealthy', aFailure('rate_limited')],
    ['a 401 or 402', 'unhealthy', aFailure('unpaid')],
    ['a 403 or 404', 'none', aFailure('not_offered')],
    ['a timeout', 'none', timeout],
    ['a disconnect of the client', 'none', aborted],
  ])('the health signal of %s is %s', (_, signal, result) => {
    expect(healthSignal(result, () => NOW).signal).toBe(signal as never)
  })

  test('the health signal of a failure includes its Retry-After', () => {
    const signal = healthSignal(aFailure('rate_limited', '7'), () => NOW)

    expect(signal).toEqual({ signal: 'unhealthy', retryAfterMs: 7_000 })
  })
})

describe('of several results the client gets', () => {
  test.each<[string, CallResult[], number]>([
    ['the answer that came last', [aFailure(), empty, anAnswer()], 2],
    ['the stream that opened last', [aFailure('rate_limited'), stream], 1],
    ['an empty answer before a failure', [empty, aFailure('rate_limited', '1')], 0],
    ['an empty answer before a refusal', [empty, aRefusal()], 0],
    ['an empty answer before a timeout', [empty, timeout], 0],
    ['the later of two empty answers', [empty, anAnswer({ isEmpty: true })], 1],
    ['nothing if it has disconnected', [empty, aborted], 1],
    ['a refusal of its request before a failure', [aFailure('rate_limited', '1'), aRefusal()], 1],
    ['a timeout before a failure', [aFailure('rate_limited', '1'), timeout], 1],
    ['a rate limit before another failure', [aFailure('rate_limited'), aFailure('server')], 0],
    ['the rate limit that ends first', [aFailure('rate_limited', '5'), aFailure('rate_limited', '9')], 0],
    ['a rate limit that says when it ends', [aFailure('rate_limited', '5'), aFailure('rate_limited')], 0],
    ['a failure that a retry may avoid', [aFailure('unreachable'), aFailure('unpaid')], 0],
    [
      'a failure that a retry may avoid, not a missing key',
      [aFailure('unreachable'), aFailure('not_configured')],
      0,
    ],
    ['the later of two failures', [aFailure('server'), aFailure('unreachable')], 1],
  ])('of several results the client gets %s', (_, results, index) => {
    const attempts = results.map(result => ({ result }))

    const selected = selectResult(attempts, NOW)

    expect(attempts.indexOf(selected)).toBe(index)
  })
})

test.each([
  ['a wait in seconds', { text: '7', delayMs: 7_000 }, 7_000],
  ['the time until a date', { text: 'a date', untilMs: NOW + 30_000 }, 30_000],
  ['no wait for a date in the past', { text: 'a date', untilMs: NOW - 30_000 }, 0],
  ['nothing for a text that cannot be read', { text: 'soon' }, undefined],
  ['nothing without a text', undefined, undefined],
])('an upstream asks for %s', (_, retryAfter, waitMs) => {
  expect(retryAfterMs(retryAfter, NOW)).toBe(waitMs)
})
