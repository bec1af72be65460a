import { expect, test } from 'bun:test'
import { killStreams } from './kill-streams.ts'

// For more rounds: `sh scripts/bun.sh all test/scenarios/streams/kill-streams.ts 100`.
test('every cost that a stream reported is in the ledger after kill -9 during 200 streams, and nothing is held', async () => {
  const { rounds, reported, broken, charged } = await killStreams(1)

  expect(rounds).toBe(1)
  expect(reported).toBeGreaterThan(0)
  expect(broken).toBeGreaterThan(100)
  expect(charged).toBeGreaterThanOrEqual(reported)
})
