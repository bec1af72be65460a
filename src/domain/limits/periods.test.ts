import { expect, test } from 'bun:test'
import { usd } from '../money.ts'
import { currentSpend, NOTHING_TOLD, periodAt, withSpend } from './periods.ts'

test.each([
  ['day', '2026-11-23T23:59:59.999Z', '2026-11-23', '2026-11-24'],
  ['day', '2026-11-24T00:00:00Z', '2026-11-24', '2026-11-25'],
  ['week', '2026-11-22T23:59:59Z', '2026-11-16', '2026-11-23'],
  ['week', '2026-11-23T00:00:00Z', '2026-11-23', '2026-11-30'],
  ['week', '1970-01-01T00:00:00Z', '1969-12-29', '1970-01-05'],
  ['month', '2026-12-31T23:59:59Z', '2026-12-01', '2027-01-01'],
  ['month', '2028-02-29T12:00:00Z', '2028-02-01', '2028-03-01'],
] as const)('the %s of %s is from %s to %s', (period, at, from, to) => {
  expect(periodAt(period, Date.parse(at))).toEqual({ startMs: Date.parse(from), endMs: Date.parse(to) })
})

test('the total never ends', () => {
  expect(periodAt('total', Date.parse('2026-11-23'))).toEqual({ startMs: 0, endMs: Infinity })
})

const monday = Date.parse('2026-11-23T12:00:00Z')
const tuesday = Date.parse('2026-11-24T12:00:00Z')

test('a period that is over counts as nothing, and no job resets it', () => {
  const spent = withSpend(undefined, 'day', { cost: usd('3'), atMs: monday })

  expect(currentSpend(spent, 'day', monday).spent).toBe(usd('3'))
  expect(currentSpend(spent, 'day', tuesday).spent).toBe(usd('0'))
})

test('a clock that is set back spends from the later period', () => {
  const spent = withSpend(undefined, 'day', { cost: usd('3'), atMs: tuesday })

  const later = withSpend(spent, 'day', { cost: usd('1'), atMs: monday })

  expect(later).toEqual({
    ...periodAt('day', tuesday),
    spent: usd('4'),
    spentBefore: usd('1'),
    told: NOTHING_TOLD,
  })
})

test('what was told of a period is known until it ends', () => {
  const told = { nearlySpent: true, reached: false }
  const before = withSpend(undefined, 'day', { cost: usd('8'), atMs: monday })

  const after = withSpend({ ...before, told }, 'day', { cost: usd('1'), atMs: monday })

  expect(after.told).toEqual(told)
  expect(withSpend(after, 'day', { cost: usd('9'), atMs: tuesday }).told).toEqual(NOTHING_TOLD)
})
