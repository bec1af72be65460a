import { expect, test } from 'bun:test'
import { killNine } from './kill-nine.ts'

// For more rounds: `sh scripts/bun.sh all test/scenarios/books/kill-nine.ts 500`.
test('every cost that a client was told is in the ledger once after kill -9', async () => {
  const { rounds, reported, charged } = await killNine(3)

  expect(rounds).toBe(3)
  expect(reported).toBeGreaterThan(0)
  expect(charged).toBeGreaterThanOrEqual(reported)
})
