import { expect, test } from 'bun:test'
import { killStreams } from './kill-streams.ts'

// The long form is a command: `sh scripts/bun.sh all test/scenarios/kill-streams.ts 100`.
test('every cost a stream told is in the books after kill -9 in the middle of 200 streams, and nothing is held', async () => {
  const { rounds, told, broken, charged } = await killStreams(1)

  expect(rounds).toBe(1)
  expect(told).toBeGreaterThan(0)
  expect(broken).toBeGreaterThan(100)
  expect(charged).toBeGreaterThanOrEqual(told)
})
