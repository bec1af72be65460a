import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { turn } from '../../../test/support/turn.ts'
import { GatewayError } from '../../domain/errors.ts'
import { ByteBudget, BUDGET_WAITERS_MAX, type Reservation } from './byte-budget.ts'

const ADA = 1
const BEN = 2
const EVE = 3
const LEO = 4
const MIA = 5
const LIMITS = { bytesMax: 100, shares: 4, waitMs: 10_000, small: { bytesMax: 2, keptBytes: 20 } }
const client = new AbortController().signal

/** A budget of 100 bytes: 80 for large reservations, and 25 for one owner, of which 20 for large ones. */
function open(change: Partial<typeof LIMITS> = {}) {
  const clock = fakeClock()
  const refusal = () => new GatewayError('unavailable', 'Full.')
  const budget = new ByteBudget({ ...LIMITS, ...change }, clock, refusal)
  const taken: string[] = []
  return {
    clock,
    budget,
    /** The outcomes of the waiting reservations, in order. */
    taken,
    /** Reserves bytes that must fit. */
    reserve: (owner: number, bytes: number) => {
      const reservation = budget.open(owner)
      if (!reservation.tryTake(bytes)) throw new Error(`${bytes} bytes of owner ${owner} do not fit`)
      return reservation
    },
    /** Reserves bytes that may have to wait. */
    wait: (name: string, owner: number, bytes: number, signal: AbortSignal = client) => {
      const reservation = budget.open(owner)
      reservation.take(bytes, signal).then(
        () => taken.push(name),
        (error: GatewayError) => taken.push(`${name}: ${error.code}`),
      )
      return reservation
    },
  }
}

/** Takes all 80 bytes that large reservations can have. */
function fill({ reserve }: ReturnType<typeof open>): Reservation[] {
  return [ADA, BEN, EVE, LEO].map(owner => reserve(owner, 20))
}

describe('a budget', () => {
  test('a budget is reserved and given back', () => {
    const { budget, reserve } = open()
    const reservation = reserve(ADA, 20)
    const before = budget.reserved

    reservation.release()
    reservation.release()

    expect([before, budget.reserved]).toEqual([20, 0])
  })

  test('a budget is never exceeded, and neither is a share, in any order of steps', () => {
    const { budget } = open()
    const owners = [ADA, BEN, EVE, LEO, MIA]
    const held: Reservation[] = []
    let seed = 7
    const below = (count: number) => (seed = (seed * 48_271) % 2_147_483_647) % count
    let refused = 0

    for (let step = 0; step < 5000; step += 1) {
      if (held.length > 0 && below(3) === 0) held.splice(below(held.length), 1)[0]?.release()
      else {
        const grown = held.length > 0 && below(4) === 0 ? held[below(held.length)]! : undefined
        const reservation = grown ?? budget.open(owners[below(owners.length)]!)
        if (!reservation.tryTake(1 + below(12))) refused += 1
        else if (grown === undefined) held.push(reservation)
      }
      const sumOf = (some: Reservation[]) => some.reduce((sum, { bytes }) => sum + bytes, 0)
      const large = held.filter(({ bytes }) => bytes > LIMITS.small.bytesMax)
      expect(budget.reserved).toBe(sumOf(held))
      expect(sumOf(held)).toBeLessThanOrEqual(100)
      expect(sumOf(large)).toBeLessThanOrEqual(80)
      for (const owner of owners) {
        expect(sumOf(held.filter(one => one.owner === owner))).toBeLessThanOrEqual(25)
        expect(sumOf(large.filter(one => one.owner === owner))).toBeLessThanOrEqual(20)
      }
    }
    for (const reservation of held) reservation.release()

    expect(refused).toBeGreaterThan(500)
    expect(budget.reserved).toBe(0)
    expect(budget.open(ADA).tryTake(20)).toBe(true)
  })

  test('a budget keeps a part for small reservations', () => {
    const opened = open()
    fill(opened)
    const { budget, reserve } = opened

    const large = budget.open(MIA).tryTake(3)
    const small = reserve(MIA, 2)

    expect([large, small.bytes]).toEqual([false, 2])
  })

  test('a budget keeps a part of each share for small reservations', () => {
    const { budget, reserve } = open()
    reserve(ADA, 20)

    const large = budget.open(ADA).tryTake(3)
    const small = [1, 2, 3].map(() => budget.open(ADA).tryTake(2))

    expect([large, ...small]).toEqual([false, true, true, false])
  })

  test('a budget counts a reservation that grows out of the small size as large with all of its bytes', () => {
    const { budget, reserve } = open()
    const growing = reserve(ADA, 2)
    reserve(ADA, 17)

    const grown = growing.tryTake(2)
    const smaller = growing.tryTake(1)

    expect([grown, smaller, budget.reserved]).toEqual([false, true, 20])
  })
})

test('a reservation can shrink, and gives the rest back', () => {
  const { budget, reserve } = open()
  const shrinking = reserve(ADA, 20)

  shrinking.shrinkTo(30)
  const before = budget.reserved
  shrinking.shrinkTo(2)
  const after = budget.reserved
  // It is small now.
  reserve(ADA, 20)
  shrinking.release()

  expect([before, after, budget.reserved]).toEqual([20, 2, 20])
})

test('a reservation of nothing always fits', async () => {
  const opened = open()
  fill(opened)
  const { budget, wait } = opened
  wait('mia', MIA, 20)

  expect(budget.open(ADA).tryTake(0)).toBe(true)
})

describe('what does not fit', () => {
  test('a reservation that does not fit waits until others give their bytes back', async () => {
    const opened = open()
    const [first] = fill(opened)
    const { taken, wait, budget, clock } = opened
    wait('mia', MIA, 20)
    await turn()
    const before = [...taken]

    first!.release()
    await turn()

    expect(before).toEqual([])
    expect(taken).toEqual(['mia'])
    expect([budget.reserved, budget.waiting, clock.waiting]).toEqual([80, 0, 0])
  })

  test('a reservation that does not fit waits in order, so that a large reservation is not overtaken', async () => {
    const opened = open()
    const held = fill(opened)
    const { taken, wait, budget } = opened
    wait('first', MIA, 20)
    wait('second', MIA + 1, 10)
    held[0]!.release()
    const third = wait('third', MIA + 2, 10)
    await turn()
    const before = [...taken]

    held[1]!.release()
    await turn()

    expect(before).toEqual(['first'])
    expect(taken).toEqual(['first', 'second', 'third'])
    expect([third.bytes, budget.waiting]).toEqual([10, 0])
  })

  test('a reservation that does not fit does not let a new reservation overtake it, even one that would fit', () => {
    const opened = open()
    const [first] = fill(opened)
    const { wait, budget, reserve } = opened
    first!.release()
    reserve(ADA, 10)
    wait('waits for 20', MIA, 20)

    expect(budget.open(BEN + 10).tryTake(10)).toBe(false)
  })

  test('a reservation that does not fit and waits for its own share does not stop other owners', async () => {
    const { taken, wait, reserve, budget } = open()
    reserve(ADA, 20)
    wait('ada', ADA, 20)

    wait('ben', BEN, 20)
    await turn()

    expect(taken).toEqual(['ben'])
    expect(budget.waiting).toBe(1)
  })

  test('a reservation that does not fit and is large does not stop small ones', () => {
    const opened = open()
    fill(opened)
    const { wait, reserve, budget } = opened
    wait('mia', MIA, 20)

    reserve(MIA, 2)

    expect(budget.waiting).toBe(1)
  })

  test('a reservation that does not fit lets the requests behind it continue when its time is over', async () => {
    const opened = open()
    const [first] = fill(opened)
    const { taken, wait, clock, reserve } = opened
    first!.release()
    reserve(ADA, 10)
    wait('mia', MIA, 20)
    clock.advance(5000)
    wait('zoe', MIA + 1, 10)
    await turn()
    const before = [...taken]

    clock.advance(5000)
    await turn()

    expect(before).toEqual([])
    expect(taken.toSorted()).toEqual(['mia: unavailable', 'zoe'])
  })

  test('a reservation that does not fit is refused after 10 seconds', async () => {
    const opened = open()
    fill(opened)
    const { taken, wait, clock, budget } = opened
    wait('mia', MIA, 20)

    clock.advance(9999)
    await turn()
    const before = [...taken]
    clock.advance(1)
    await turn()

    expect(before).toEqual([])
    expect(taken).toEqual(['mia: unavailable'])
    expect([budget.waiting, clock.waiting]).toEqual([0, 0])
  })

  test('a reservation that does not fit leaves the queue when its client disconnects, and the requests behind it continue', async () => {
    const opened = open()
    const [first] = fill(opened)
    const { taken, wait, budget, clock, reserve } = opened
    first!.release()
    reserve(ADA, 10)
    const leaving = new AbortController()
    wait('mia', MIA, 20, leaving.signal)
    wait('zoe', MIA + 1, 10)
    await turn()
    const before = [...taken]

    leaving.abort()
    await turn()

    expect(before).toEqual([])
    expect(taken.toSorted()).toEqual(['mia: unavailable', 'zoe'])
    expect([budget.waiting, clock.waiting]).toEqual([0, 0])
  })

  test('a reservation that does not fit does not wait for a client that has left already', async () => {
    const opened = open()
    fill(opened)

    opened.wait('mia', MIA, 20, AbortSignal.abort())
    await turn()

    expect(opened.taken).toEqual(['mia: unavailable'])
  })

  test('a reservation that does not fit is refused at once if too many wait', async () => {
    const opened = open()
    fill(opened)
    for (let count = 0; count < BUDGET_WAITERS_MAX; count += 1) opened.wait('one', MIA, 20)

    opened.wait('one too many', MIA, 20)
    await turn()

    expect(opened.taken).toEqual(['one too many: unavailable'])
    expect(opened.budget.waiting).toBe(BUDGET_WAITERS_MAX)
  })

  test('a reservation that does not fit keeps what it had, and gives it back', async () => {
    const opened = open()
    const held = fill(opened).slice(1)
    const growing = held[0]!
    const refused = growing.take(10, client).catch((error: GatewayError) => error.code)

    opened.clock.advance(10_000)
    const code = await refused
    const before = growing.bytes
    growing.release()

    expect([code, before]).toEqual(['unavailable', 20])
    expect(opened.budget.reserved).toBe(60)
  })
})
