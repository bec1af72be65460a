import { expect, test } from 'bun:test'
import { usd } from '../money.ts'
import { attemptTransitions, compensating, losing, mayBecome, type AttemptState } from './attempt.ts'

test('a call that timed out is closed or billed once, and only a billed one is compensated', () => {
  const states = Object.keys(attemptTransitions) as AttemptState[]

  const changes = states.flatMap(state =>
    states.filter(next => mayBecome(state, next)).map(next => `${state} to ${next}`),
  )

  expect(changes).toEqual(['timed_out to closed', 'timed_out to billed', 'billed to compensated'])
})

test('a loss is paid by the operator and not by the account', () => {
  expect(losing(usd('2'))).toEqual([{ from: 'losses', to: 'revenue.media', amount: usd('2') }])
})

test('a negative cost is neither compensated nor booked as a loss', () => {
  expect(() => compensating(usd('-1'))).toThrow(RangeError)
  expect(() => losing(usd('-1'))).toThrow(RangeError)
})
