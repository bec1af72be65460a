import { expect, test } from 'bun:test'
import { killNine } from './kill-nine.ts'

// The long form is a command: `sh scripts/bun.sh all test/scenarios/kill-nine.ts 500`.
test('every cost a client was told is in the books once after kill -9', async () => {
  const { rounds, told, charged } = await killNine(3)

  expect(rounds).toBe(3)
  expect(told).toBeGreaterThan(0)
  expect(charged).toBeGreaterThanOrEqual(told)
})
