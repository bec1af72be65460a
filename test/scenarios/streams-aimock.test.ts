import { expect, test } from 'bun:test'
import { aimockStreams } from './aimock-streams.ts'

// The long form is a command: `sh scripts/bun.sh all test/scenarios/aimock-streams.ts 10000`.
test('a thousand streams of a troubled upstream end one way or another, leave nothing behind, and the books balance', async () => {
  const { ends, toldUsd, spentUsd, problems, streamsInMemory } = await aimockStreams(1000)

  expect(Object.values(ends).reduce((sum, count) => sum + count)).toBe(1000)
  expect(Math.min(...Object.values(ends))).toBeGreaterThan(50)
  // Streams that broke, or whose client left, are charged and not told their cost.
  expect(Number(spentUsd)).toBeGreaterThan(Number(toldUsd))
  expect(problems).toEqual([])
  expect(streamsInMemory).toBeLessThan(100)
})
