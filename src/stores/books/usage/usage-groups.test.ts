import { expect, test } from 'bun:test'
import { usd, ZERO } from '../../../domain/money.ts'
import { NO_SUMS } from './usage-days.ts'
import { GroupSums } from './usage-groups.ts'

const ONE = { ...NO_SUMS, charges: 1, cost: usd('1'), providerCost: usd('0.5') }
const USERS = 1000
/** Visits all users several times, in an order that is not that of their names. */
const visits = Array.from({ length: 5 * USERS }, (_, index) => (index * 37) % USERS)

test('each group of a page has all its charges, however many other groups there are', () => {
  const found: (string | null)[] = []
  let after: string | undefined
  for (let hasMore = true; hasMore;) {
    const sums = new GroupSums({
      matching: { tags: new Map() },
      grouping: { by: 'user' },
      limit: 64,
      ...(after !== undefined && { after }),
    })
    for (const user of visits) sums.addCharge({ userId: `user ${user}`, apiKeyId: 1 }, ONE)
    sums.addRefund({ apiKeyId: 1 }, usd('0.5'))

    const page = sums.page()

    for (const group of page.groups.filter(({ value }) => value !== null))
      expect(group).toMatchObject({ charges: 5, cost: usd('5'), providerCost: usd('2.5'), refunded: ZERO })
    expect(page.totals).toEqual({
      ...NO_SUMS,
      charges: 5000,
      cost: usd('5000'),
      providerCost: usd('2500'),
      refunded: usd('0.5'),
    })
    found.push(...page.groups.map(({ value }) => value))
    after = found.at(-1) ?? undefined
    hasMore = page.hasMore
  }

  const users = Array.from({ length: USERS }, (_, index) => `user ${index}`).sort()
  expect(found).toEqual([...users, null])
})
