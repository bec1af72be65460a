import { afterEach, describe, expect, test } from 'bun:test'
import { aCharge, anId, NOW } from '../../../../test/support/ledger-builders.ts'
import { anAccountIn, problemsOf } from '../../../../test/support/postgres/books.ts'
import { runServer } from '../../../../test/support/postgres/run-server.ts'
import { databases } from '../../../../test/support/postgres/store-kind.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { usd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { Hold } from '../../../gateway/ports/ledger/ledger.ts'
import { Batches } from '../lanes/batches.ts'
import { LANE_TTL_MS } from '../lanes/lane.ts'
import { Tariffs } from './tariffs.ts'
import { TextHolds } from './text-holds.ts'
import { createStepRunner } from '../lanes/step-runner.ts'

const server = await runServer()
const ends: (() => unknown)[] = []

/** Two nodes over an account with 5 dollars, and the clock of both. */
async function setUp() {
  const { openReads, connect } = (await databases.take()).connections
  const reads = openReads()
  const clock = { nowMs: NOW }
  const nowMs = () => clock.nowMs
  const freed: number[] = []
  const open = async (label: string) => {
    const batches = await Batches.open({ connect, label, version: '1', nowMs })
    ends.unshift(() => batches.close())
    const onFreed = (accountId: number) => freed.push(accountId)
    return {
      batches,
      holds: new TextHolds({
        batches,
        reads,
        tariffs: new Tariffs(createStepRunner({ batches, reads })),
        nowMs,
        onFreed,
      }),
    }
  }
  ends.push(() => reads.close())
  const [one, other] = [await open('one'), await open('other')]
  const accountId = await anAccountIn(reads, usd('5'))
  const aHold = (amount: NanoUsd): Hold => ({ id: anId(), accountId, kind: 'text', amount })
  const placed = async () => {
    const hold = aHold(usd('2'))
    await one.holds.place(hold)
    return hold
  }
  const free = async () => {
    const rows = await reads<{ free: bigint }[]>`SELECT available - reserved AS free FROM balances`
    return rows[0]!.free
  }
  return { reads, clock, open, one, other, accountId, freed, aHold, placed, free }
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await databases.giveBack()
})

describe.skipIf(server === undefined)('text holds in PostgreSQL', () => {
  test('a text hold in PostgreSQL expires 120 seconds after its node was last seen, on every node', async () => {
    const { clock, one, other, placed } = await setUp()
    const hold = await placed()

    clock.nowMs += LANE_TTL_MS - 1
    const early = [await one.holds.expired(10), await other.holds.expired(10)]
    clock.nowMs += 1
    const late = [await one.holds.expired(10), await other.holds.expired(10)]

    expect([early, late]).toEqual([
      [[], []],
      [[hold], [hold]],
    ])
  })

  test('a node that renews its text holds in PostgreSQL keeps them, and only its own', async () => {
    const { clock, one, other, placed, aHold } = await setUp()
    await placed()
    const others = aHold(usd('1'))
    await other.holds.place(others)
    clock.nowMs += LANE_TTL_MS - 1

    await one.holds.renew()
    clock.nowMs += 1

    expect(await one.holds.expired(10)).toEqual([others])
  })

  test('of 20 expirations of one hold on two nodes, one frees its money', async () => {
    const { clock, one, other, accountId, freed, placed, free } = await setUp()
    const hold = await placed()
    clock.nowMs += LANE_TTL_MS

    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => [one, other][index % 2]!.holds.expire([hold], clock.nowMs)),
    )

    expect(outcomes.filter(expired => expired === 1)).toHaveLength(1)
    expect(outcomes.filter(expired => expired === 0)).toHaveLength(19)
    expect(freed).toEqual([accountId])
    expect(await free()).toBe(usd('5'))
    expect(await one.holds.expired(10)).toEqual([])
  })

  test('the holds of a dead node expire a hundred in a transaction', async () => {
    const { clock, reads, one, other, aHold, free } = await setUp()
    const holds = Array.from({ length: 150 }, () => aHold(usd('0.01')))
    await Promise.all(holds.map(hold => one.holds.place(hold)))
    clock.nowMs += LANE_TTL_MS

    const expired = await other.holds.expire(holds, clock.nowMs)

    const transactions = await reads<object[]>`SELECT DISTINCT xmin::text FROM text_holds`
    expect([expired, transactions.length, await free()]).toEqual([150, 2, usd('5')])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('a hold that was listed as expired and then renewed is not freed', async () => {
    const { clock, one, other, placed, free } = await setUp()
    const hold = await placed()
    clock.nowMs += LANE_TTL_MS
    const listed = await other.holds.expired(10)
    await one.holds.renew()

    const expired = await other.holds.expire([hold], clock.nowMs)

    expect([listed.length, expired]).toEqual([1, 0])
    expect(await free()).toBe(usd('3'))
  })

  test('an expired hold is charged once, with the whole cost as shortfall, and cannot be placed again', async () => {
    const { clock, reads, one, other, placed, free } = await setUp()
    const hold = await placed()
    clock.nowMs += LANE_TTL_MS
    await other.holds.expire([hold], clock.nowMs)

    const again = await rejection(one.holds.place(hold))
    const captured = [await one.holds.capture(hold, aCharge(1)), await other.holds.capture(hold, aCharge(1))]

    expect(again).toBeInstanceOf(RangeError)
    expect(captured).toEqual([
      { cost: usd('1'), shortfall: usd('1') },
      { cost: usd('1'), shortfall: usd('1') },
    ])
    expect(await free()).toBe(usd('4'))
    await Promise.all([one.batches.close(), other.batches.close()])
    expect(await problemsOf(reads)).toEqual([])
  })

  test('the release of an expired hold frees nothing a second time', async () => {
    const { clock, reads, one, other, placed, free } = await setUp()
    const hold = await placed()
    clock.nowMs += LANE_TTL_MS
    await other.holds.expire([hold], clock.nowMs)

    await one.holds.release(hold)

    expect(await free()).toBe(usd('5'))
    expect(await reads`SELECT * FROM text_holds`).toHaveLength(0)
  })

  test('a hold that was released is not charged in PostgreSQL, and takes no money', async () => {
    const { reads, one, placed, free } = await setUp()
    const hold = await placed()
    await one.holds.release(hold)

    const refused = await rejection(one.holds.capture(hold, aCharge(1)))

    expect(String(refused)).toContain('is not open: it was released or never placed.')
    expect(await free()).toBe(usd('5'))
    expect(await reads`SELECT * FROM charges`).toHaveLength(0)
  })

  test('a node that closes ends its text holds, and not those of another node', async () => {
    const { reads, one, other, placed, aHold, free } = await setUp()
    await placed()
    await other.holds.place(aHold(usd('1')))

    await one.batches.close()

    expect(await free()).toBe(usd('4'))
    expect(await reads`SELECT * FROM text_holds`).toHaveLength(1)
  })

  test('the holds of a node expire at once if another process took its lane', async () => {
    const { clock, open, one, other, placed, free } = await setUp()
    const hold = await placed()
    clock.nowMs += LANE_TTL_MS
    await other.holds.renew()
    const third = await open('third')

    const listed = await other.holds.expired(10)
    const expired = await other.holds.expire([hold], clock.nowMs)

    expect(third.batches.lane).toBe(one.batches.lane)
    expect(listed).toEqual([hold])
    expect([expired, await free()]).toEqual([1, usd('5')])
  })

  test('a release that follows a capture waits for it, also if the capture has to write its tariff first', async () => {
    const { one, placed, free } = await setUp()
    const hold = await placed()

    const [captured] = await Promise.all([one.holds.capture(hold, aCharge(1)), one.holds.release(hold)])

    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await free()).toBe(usd('4'))
  })

  test('negative holds and costs are refused in PostgreSQL, and change nothing', async () => {
    const { one, placed, aHold, free } = await setUp()
    const hold = await placed()

    const errors = [
      await rejection(one.holds.place(aHold(usd('-1')))),
      await rejection(one.holds.capture(hold, aCharge(1, { cost: usd('-1') }))),
    ]

    for (const error of errors) expect(error).toBeInstanceOf(RangeError)
    expect(await free()).toBe(usd('3'))
  })
})
