import { expect, test } from 'bun:test'
import { aimockStreams } from './aimock-streams.ts'

// For more streams: `sh scripts/bun.sh all test/scenarios/streams/aimock-streams.ts 10000`.
test('a thousand streams of a faulty upstream all end, leave nothing in memory, and the ledger balances', async () => {
  const { ends, reportedUsd, spentUsd, problems, streamsInMemory } = await aimockStreams(1000)

  expect(Object.values(ends).reduce((sum, count) => sum + count)).toBe(1000)
  expect(Math.min(...Object.values(ends))).toBeGreaterThan(50)
  // Streams that broke, or whose client disconnected, are charged without reporting the cost.
  expect(Number(spentUsd)).toBeGreaterThan(Number(reportedUsd))
  expect(problems).toEqual([])
  expect(streamsInMemory).toBeLessThan(100)
})
