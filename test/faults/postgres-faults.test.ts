import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { runServer } from '../support/postgres/run-server.ts'
import { cutNetwork, freezeNode, killNodes } from './node-faults.ts'
import { upgradeNodes } from './rolling-upgrade.ts'
import { killServer, loseCommits } from './server-faults.ts'
import { TwoGateways } from './two-gateways.ts'

// For the long forms: `sh scripts/bun.sh all test/faults/run.ts server-kills 100`, and the other names in that file.
// They run real processes for a minute, and only with `TEST_FAULTS=on`.
const isSkipped = process.env['TEST_FAULTS'] !== 'on' || (await runServer()) === undefined
const lines: string[] = []
const log = (line: string) => void lines.push(line)
/** A second, and what a busy machine adds. */
const LONGEST_WAIT_MS = 4000

describe.skipIf(isSkipped)('two gateways on one PostgreSQL server', () => {
  let two: TwoGateways
  beforeAll(async () => {
    two = await TwoGateways.start()
  })
  afterAll(() => two.end())

  test('after a crash of the database under load, each cost that a client was told is charged once', async () => {
    await killServer(two, 1, log)

    expect(two.reported).toBeGreaterThan(0)
  })

  test('after the kill of a gateway its holds are freed and its jobs end, and the other one answers everything', async () => {
    const before = two.reported

    await killNodes(two, 1, log)

    expect(two.reported).toBeGreaterThan(before)
  })

  test('a gateway without a network to the database refuses within seconds, and charges what ran when it heals', async () => {
    const before = two.reported

    await cutNetwork(two, 'both held', log)

    expect(two.reported).toBeGreaterThan(before)
  })

  test('a gateway that was frozen until another took its lane charges exactly, and delays no other gateway', async () => {
    const longestMs = await freezeNode(two, { ms: 500, isLate: true, isAged: true }, log)

    expect(longestMs).toBeLessThan(LONGEST_WAIT_MS)
  })

  test('two gateways are upgraded one after the other without a failed request, and a too old one drains', async () => {
    const before = two.reported

    await upgradeNodes(two, 1, log)

    expect(two.reported).toBeGreaterThan(before)
  })

  test('a database that lost commits stops the paid work of both gateways, and the missing batches are named', async () => {
    const named = await loseCommits(two)

    for (const line of named)
      expect(line).toMatch(/^The database lost the batches \d+ to \d+ of epoch \d+ of lane/)
  })
})
