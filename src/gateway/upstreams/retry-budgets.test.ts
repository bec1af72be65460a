import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { aDestination } from '../../../test/support/upstream-rows.ts'
import { RETRY_WINDOW_MS, RetryBudgets } from './retry-budgets.ts'

const { upstream } = aDestination('main')

/** Sends requests that all fail, and counts the retries. */
function retriesOf(budgets: RetryBudgets, requests: number): number {
  let retries = 0
  for (let sent = 0; sent < requests; sent += 1) {
    budgets.countRequest(upstream)
    if (budgets.takeRetry(upstream)) retries += 1
  }
  return retries
}

test.each([
  [1, 1],
  [10, 1],
  [11, 2],
  [100, 10],
])('of %d requests that fail, %d may be retried', (requests, retries) => {
  expect(retriesOf(new RetryBudgets(fakeClock()), requests)).toBe(retries)
})

test('a request can be retried again after the time of the window', () => {
  const clock = fakeClock()
  const budgets = new RetryBudgets(clock)
  retriesOf(budgets, 5)

  clock.advance(RETRY_WINDOW_MS - 1)
  const before = retriesOf(budgets, 1)
  clock.advance(1)

  expect([before, retriesOf(budgets, 1)]).toEqual([0, 1])
})

test('requests of an earlier window allow no retries', () => {
  const clock = fakeClock()
  const budgets = new RetryBudgets(clock)
  retriesOf(budgets, 1)
  for (let sent = 0; sent < 1000; sent += 1) budgets.countRequest(upstream)

  clock.advance(RETRY_WINDOW_MS)

  expect(retriesOf(budgets, 10)).toBe(1)
})

test('an upstream that was never called has no retries', () => {
  expect(new RetryBudgets(fakeClock()).takeRetry(upstream)).toBe(false)
})
