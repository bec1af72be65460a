import { afterEach, describe, expect, test } from 'bun:test'
import { aCharge, anId, NOW } from '../../../test/support/ledger-builders.ts'
import { anAccountIn, problemsOf } from '../../../test/support/postgres/books.ts'
import { aDatabase } from '../../../test/support/postgres/databases.ts'
import { runServer } from '../../../test/support/postgres/run-server.ts'
import { usd, ZERO } from '../../domain/money.ts'
import { Batches } from './batches.ts'
import { connections } from './database.ts'
import { LANE_TTL_MS } from './lane.ts'
import { sealSilentLanes } from './stored-rows.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

async function setUp() {
  const { reads, connect } = connections(await aDatabase(server!))
  ends.push(() => reads.close())
  const clock = { nowMs: NOW }
  const open = async (label: string) => {
    const batches = await Batches.open({ connect, label, nowMs: () => clock.nowMs })
    ends.push(() => batches.close())
    return batches
  }
  const accountId = await anAccountIn(reads, usd('5'))
  const charge = async (batches: Batches) => {
    const hold = { id: anId(), accountId, kind: 'text', amount: ZERO } as const
    await batches.place(hold)
    return batches.charge({ hold, charge: aCharge(1), tariffId: null })
  }
  return { reads, clock, open, charge }
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

describe.skipIf(server === undefined)('lanes', () => {
  test('nodes that start at the same time take different lanes', async () => {
    const { open } = await setUp()

    const nodes = await Promise.all(['a', 'b', 'c'].map(open))

    expect(new Set(nodes.map(({ lane }) => lane))).toEqual(new Set([1n, 2n, 3n]))
  })

  test('a node that was closed gives its lane to the next one, whatever its name is', async () => {
    const { open } = await setUp()
    const first = await open('a')
    await open('b')
    await first.close()

    const next = await open('c')

    expect(next.lane).toBe(1n)
  })

  test('a lane can be taken after it was not seen for 120 seconds, and not before', async () => {
    const { open, clock } = await setUp()
    await open('a')

    clock.nowMs += LANE_TTL_MS - 1
    const early = await open('b')
    clock.nowMs += 1
    const late = await open('c')

    expect([early.lane, late.lane]).toEqual([2n, 1n])
  })

  test('each batch shows that its lane is in use', async () => {
    const { open, clock, charge } = await setUp()
    const first = await open('a')
    clock.nowMs += LANE_TTL_MS - 1
    await charge(first)
    clock.nowMs += LANE_TTL_MS - 1

    const second = await open('b')

    expect(second.lane).toBe(2n)
  })

  test('a node goes on with the row ids and the chain of commits of its lane', async () => {
    const { open, charge, reads } = await setUp()
    const first = await open('a')
    await charge(first)
    await first.close()
    const second = await open('b')

    await charge(second)
    await second.close()

    const rows = await reads<{ number: bigint }[]>`SELECT number FROM commits ORDER BY id`
    expect(rows.map(({ number }) => number)).toEqual([1n, 2n])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('a lane without work stores the commit of its last batch', async () => {
    const { open, charge, reads } = await setUp()
    await charge(await open('a'))

    let commits: unknown[] = []
    while (commits.length === 0) commits = await reads`SELECT * FROM commits`

    expect(await problemsOf(reads)).toEqual([])
  })

  test('the last batch of a node that was killed is sealed by another node, once, after 120 seconds', async () => {
    const { open, charge, reads, clock } = await setUp()
    const killed = await open('a')
    await charge(killed)
    // Read before the lane is idle for long enough to seal itself.
    const unsealed = await reads`SELECT * FROM commits`
    const early = await sealSilentLanes(reads, clock.nowMs + LANE_TTL_MS - 1)

    const sealed = await Promise.all([1, 2].map(() => sealSilentLanes(reads, clock.nowMs + LANE_TTL_MS)))

    expect([unsealed.length, early, sealed[0]! + sealed[1]!]).toEqual([0, 0, 1])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('a node whose last batch was sealed by another node takes another lane for its next charge', async () => {
    const { open, charge, reads, clock } = await setUp()
    const frozen = await open('a')
    await charge(frozen)
    clock.nowMs += LANE_TTL_MS
    await sealSilentLanes(reads, clock.nowMs)

    const answer = await charge(frozen)
    await frozen.close()

    expect(answer).toEqual({ captured: { cost: usd('1'), shortfall: usd('1') } })
    expect(await problemsOf(reads)).toEqual([])
  })
})
