import { describe, expect, test } from 'bun:test'
import { aFailure, anAnswer, aRefusal } from '../../../test/support/upstream-rows.ts'
import { healthSignal, shouldFailOver, selectResult, type CallResult } from './select-result.ts'

const NOW = 1_800_000_000_000
const empty = anAnswer({ isEmpty: true })
const timeout: CallResult = { verdict: 'timeout' }
const aborted: CallResult = { verdict: 'aborted' }
const stream: CallResult = { verdict: 'stream' }

describe('another upstream', () => {
  test.each<[string, CallResult]>([
    ['a failure to connect', aFailure('unreachable')],
    ['a 5xx', aFailure('server')],
    ['a 200 that is no answer', aFailure('no_answer')],
    ['a 429', aFailure('rate_limited')],
    ['a 401 or 402', aFailure('unpaid')],
    ['a 403 or 404', aFailure('not_offered')],
    ['an empty answer', empty],
  ])('is asked after %s', (_, verdict) => {
    expect(shouldFailOver(verdict)).toBe(true)
  })

  test.each<[string, CallResult]>([
    ['an answer', anAnswer()],
    ['an opened stream', stream],
    ['any other 4xx', aRefusal()],
    ['a timeout: this one may yet answer, and bill', timeout],
    ['a client that has left', aborted],
  ])('is not asked after %s', (_, verdict) => {
    expect(shouldFailOver(verdict)).toBe(false)
  })
})

describe('of its upstream', () => {
  test.each<[string, string, CallResult]>([
    ['an answer', 'works', anAnswer()],
    ['an empty answer', 'works', empty],
    ['an opened stream', 'works', stream],
    ['a refusal of the request', 'works', aRefusal()],
    ['a failure to connect', 'fails', aFailure('unreachable')],
    ['a 5xx', 'fails', aFailure('server')],
    ['a 200 that is no answer', 'fails', aFailure('no_answer')],
    ['a 429', 'fails', aFailure('rate_limited')],
    ['a 401 or 402', 'fails', aFailure('unpaid')],
    ['a 403 or 404', 'may or may not work', aFailure('not_offered')],
    ['a timeout', 'may or may not work', timeout],
    ['a client that has left', 'may or may not work', aborted],
  ])('%s shows that it %s', (_, effect, verdict) => {
    const shown = healthSignal(verdict, NOW).effect

    expect(shown === 'none' ? 'may or may not work' : shown).toBe(effect as never)
  })

  test('a failure shows when it asks to be tried again', () => {
    const effect = healthSignal(aFailure('rate_limited', '7'), NOW)

    expect(effect).toEqual({ effect: 'fails', retryAfterMs: 7_000 })
  })
})

describe('of several verdicts the client gets', () => {
  test.each<[string, CallResult[], number]>([
    ['the answer that came at last', [aFailure(), empty, anAnswer()], 2],
    ['the stream that opened at last', [aFailure('rate_limited'), stream], 1],
    ['an empty answer rather than a failure', [empty, aFailure('rate_limited', '1')], 0],
    ['an empty answer rather than a refusal', [empty, aRefusal()], 0],
    ['an empty answer rather than a timeout', [empty, timeout], 0],
    ['the later of two empty answers', [empty, anAnswer({ isEmpty: true })], 1],
    ['nothing, where it has left', [empty, aborted], 1],
    ['a refusal of its request rather than a failure', [aFailure('rate_limited', '1'), aRefusal()], 1],
    ['a timeout rather than a failure', [aFailure('rate_limited', '1'), timeout], 1],
    ['a rate limit rather than another failure', [aFailure('rate_limited'), aFailure('server')], 0],
    ['the rate limit that ends first', [aFailure('rate_limited', '5'), aFailure('rate_limited', '9')], 0],
    ['a rate limit that says when it ends', [aFailure('rate_limited', '5'), aFailure('rate_limited')], 0],
    ['what a repeat may not meet again', [aFailure('unreachable'), aFailure('unpaid')], 0],
    ['the later of two failures', [aFailure('server'), aFailure('unreachable')], 1],
  ])('%s', (_, verdicts, index) => {
    const asked = verdicts.map(verdict => ({ verdict }))

    const chosen = selectResult(asked, NOW)

    expect(asked.indexOf(chosen)).toBe(index)
  })
})
