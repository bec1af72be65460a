import { expect, test } from 'bun:test'
import { limitLines } from './limits.ts'

test.each([
  ['0', '20', '20 USD a month (0 spent, 20 left)'],
  ['0.6', '19.4', '20 USD a month (0 spent, 0.6 reserved, 19.4 left)'],
])('a budget of which %s USD is reserved says so if it is not zero', (reserved, left, line) => {
  const lines = limitLines({
    limits: { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null },
    budgets: { day: null, week: null, month: '20', total: null },
    budget_usage: { month: { spent_usd: '0', reserved_usd: reserved, remaining_usd: left } },
  })

  expect(lines).toEqual([line])
})
