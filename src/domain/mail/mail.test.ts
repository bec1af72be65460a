import { expect, test } from 'bun:test'
import { hasRoom, isForOperators } from './mail.ts'

const BOUNDS = { perAddress: 5, perDay: 100 }

test.each([
  { type: 'balance.low', room: 5 },
  { type: 'job.finished', room: 3 },
  { type: 'provider.failing', room: 10 },
  { type: undefined, room: 10 },
] as const)('an address that is bounded to 5 mails a day gets $room of the type $type', ({ type, room }) => {
  const isOpenAfter = (toAddress: number) =>
    hasRoom({ type, isOperator: false }, { toAddress, inAll: toAddress }, BOUNDS)

  expect(isOpenAfter(room - 1)).toBe(true)
  expect(isOpenAfter(room)).toBe(false)
})

test('the bound of all addresses together does not hold back mails to operators', () => {
  const queued = { toAddress: 0, inAll: BOUNDS.perDay }

  expect(hasRoom({ type: 'balance.low', isOperator: false }, queued, BOUNDS)).toBe(false)
  expect(hasRoom({ type: 'balance.low', isOperator: true }, queued, BOUNDS)).toBe(true)
})

test('operators get no mails about jobs', () => {
  expect(isForOperators('job.finished')).toBe(false)
  expect(isForOperators('budget.reached')).toBe(true)
})
