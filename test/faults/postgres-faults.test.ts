import { afterAll, describe, expect, test } from 'bun:test'
import { runServer } from '../support/postgres/run-server.ts'
import { cutNetwork, freezeNode, killNodes, REFUSED_WITHIN_MS, type LongestWaits } from './node-faults.ts'
import { killServer, loseCommits } from './server-faults.ts'
import { TwoGateways } from './two-gateways.ts'

// For the long forms: `sh scripts/bun.sh all test/faults/run.ts server-kills 100`, and the other names in that file.
const server = await runServer()
const log = () => undefined
/** What a busy machine adds. The long forms do not allow it. */
const BUSY_MS = 2000
/** By how many times the longest wait can exceed the one before the fault, if the machine is even busier. */
const BUSY_FACTOR = 3
const longestWaitMs = ({ calmMs }: LongestWaits) => 1000 + Math.max(BUSY_MS, BUSY_FACTOR * calmMs)
/** Both ways, and each alone. A cut takes as long as a call may take. */
const shortCuts = ['both held', 'requests held', 'answers lost'] as const

/** All tests use the same processes, until one of them fails. The next one then starts others. */
let shared: TwoGateways | undefined

async function withTwo<T>(fault: (two: TwoGateways) => Promise<T>): Promise<T> {
  shared ??= await TwoGateways.start()
  try {
    return await fault(shared)
  } catch (error) {
    await endTwo()
    throw error
  }
}

async function endTwo(): Promise<void> {
  await shared?.end()
  shared = undefined
}

describe.skipIf(server === undefined)('two gateways on one PostgreSQL server', () => {
  afterAll(endTwo)

  test('after a crash of the database under load, each cost that a client was told is charged once', async () => {
    const reported = await withTwo(async two => {
      await killServer(two, 1, log)
      return two.reported
    })

    expect(reported).toBeGreaterThan(0)
  })

  test('after the kill of a gateway its holds are freed and its jobs end, and the other one answers everything', async () => {
    const reported = await withTwo(async two => {
      const before = two.reported
      await killNodes(two, 1, log)
      return two.reported - before
    })

    expect(reported).toBeGreaterThan(0)
  })

  test.each(shortCuts)(
    'a gateway whose network to the database has %s refuses within 3 s, and charges what ran when it heals',
    async cut => {
      const waits = await withTwo(two => cutNetwork(two, cut, log, REFUSED_WITHIN_MS + BUSY_MS))

      expect(waits.longestMs).toBeLessThan(longestWaitMs(waits))
    },
  )

  test('a gateway that was frozen until another took its lane charges exactly, and delays no other gateway', async () => {
    const waits = await withTwo(two => freezeNode(two, { ms: 500, isLate: true, isAged: true }, log))

    expect(waits.longestMs).toBeLessThan(longestWaitMs(waits))
  })

  test('a database that lost commits stops the paid work of both gateways, and the missing batches are named', async () => {
    const named = await withTwo(loseCommits)
    await endTwo()

    expect(named).toHaveLength(2)
    for (const line of named)
      expect(line).toMatch(/^The database lost the batches \d+ to \d+ of epoch \d+ of lane/)
  })
})
