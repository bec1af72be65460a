import { expect, test } from 'bun:test'
import { farFromMidnight } from '../../support/far-from-midnight.ts'
import { killNine } from './kill-nine.ts'

// For more rounds: `sh scripts/bun.sh all test/scenarios/books/kill-nine.ts 500`.
test('every cost that a client was told is in the ledger once after kill -9', async () => {
  // The budget of a month counts only the charges of one month.
  await farFromMidnight()

  const { rounds, reported, charged } = await killNine(3)

  expect(rounds).toBe(3)
  expect(reported).toBeGreaterThan(0)
  expect(charged).toBeGreaterThanOrEqual(reported)
})
