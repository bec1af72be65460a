import { describe, expect, test } from 'bun:test'
import { aKeyIn, aProject } from '../../../test/support/account-builders.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import {
  aCharge,
  aCredit,
  anId,
  anAccount,
  anAudit,
  aTextHold,
  changeLimits,
  NOW,
} from '../../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { turn } from '../../../test/support/turn.ts'
import { usd, ZERO, type NanoUsd } from '../../domain/money.ts'
import { BooksGuard } from '../books/books-guard.ts'
import { HoldQueue, RETRY_EVERY_MS, HOLD_WAITERS_MAX, type HoldQueueSettings } from './hold-queue.ts'
import type { Hold, HoldOutcome, Ledger } from '../ports/ledger/ledger.ts'

const WAIT_MS = 5000

type Setup = Partial<HoldQueueSettings> & {
  readonly funds?: NanoUsd
  readonly ledgerFrom?: (ledger: Ledger) => Ledger
}

/** A queue over a real ledger, with one account that has these funds. */
async function aQueue({ funds = usd('10'), ledgerFrom = ledger => ledger, ...change }: Setup = {}) {
  const store = aSqliteStore()
  const clock = fakeClock()
  const settings = { waitMs: WAIT_MS, mode: 'hold' as const, ...change }
  const anchor: { problem: string | undefined } = { problem: undefined }
  const guard = new BooksGuard({ anchor, isWritable: () => true, buildRefusal: () => undefined })
  const queue = new HoldQueue({ ledger: ledgerFrom(store.ledger), guard, clock }, settings)
  const account = await anAccount(store, { funds })
  const staying = { signal: new AbortController().signal }
  return {
    store,
    clock,
    queue,
    anchor,
    ledger: store.ledger,
    ...account,
    place: async (amount: NanoUsd, client: { signal: AbortSignal } = staying) =>
      queue.place(aTextHold({ ...account, amount }), client),
    balance: async () => {
      const { available, held } = await store.ledger.balance(account.accountId)
      return { available, held: held.text }
    },
  }
}

function heldBy(outcome: HoldOutcome): Hold {
  if (outcome.outcome !== 'held') throw new Error('The hold was refused.')
  return outcome.hold
}

/** Lets the queue finish what it does by itself. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await turn()
}

/** The outcomes so far, in the order in which they came. */
function watch(outcomes: Readonly<Record<string, Promise<HoldOutcome>>>): string[] {
  const seen: string[] = []
  for (const [name, outcome] of Object.entries(outcomes))
    void outcome.then(({ outcome: how }) => seen.push(`${name} ${how}`))
  return seen
}

/** A refusal while only text requests hold money. */
function refused(available: NanoUsd, heldText: NanoUsd): HoldOutcome {
  return { outcome: 'refused', available, held: heldText, heldText }
}

describe('a request', () => {
  test('a request that fits is held at once', async () => {
    const { place, balance, queue } = await aQueue()

    const outcome = await place(usd('4'))

    expect(outcome.outcome).toBe('held')
    expect(await balance()).toEqual({ available: usd('6'), held: usd('4') })
    expect(queue.waiting).toBe(0)
  })

  test('a request that can never fit is refused at once, with the current balance', async () => {
    const { place, queue } = await aQueue()
    await place(usd('4'))

    const outcome = await place(usd('10.000000001'))

    expect(outcome).toEqual(refused(usd('6'), usd('4')))
    expect(queue.waiting).toBe(0)
  })

  test.each(['release', 'capture'] as const)(
    'a request that would fit later waits for the %s of a running one',
    async how => {
      const { ledger, place, queue, clock, apiKeyId } = await aQueue()
      const running = heldBy(await place(usd('9')))
      const waiting = place(usd('3'))
      await settled()
      const waited = queue.waiting

      if (how === 'release') await queue.release(running)
      else await ledger.captureHold(running, aCharge(apiKeyId, { tokens: 7 }))

      expect(waited).toBe(1)
      expect((await waiting).outcome).toBe('held')
      expect({ waiting: queue.waiting, timers: clock.waiting }).toEqual({ waiting: 0, timers: 0 })
    },
  )

  test('a request notices a running one that ends just before it begins to wait', async () => {
    const told = Promise.withResolvers<void>()
    let isSlow = false
    const { place, queue } = await aQueue({
      ledgerFrom: ledger => ({
        ...ledger,
        placeHold: async request => {
          const outcome = await ledger.placeHold(request)
          if (isSlow) await told.promise
          return outcome
        },
      }),
    })
    const running = heldBy(await place(usd('9')))
    isSlow = true
    const waiting = place(usd('3'))

    await queue.release(running)
    told.resolve()

    expect((await waiting).outcome).toBe('held')
  })

  test('a request stops waiting when a credit covers it', async () => {
    const { place, store, accountId } = await aQueue()
    await place(usd('9'))
    const waiting = place(usd('3'))
    await settled()

    await store.ledger.credit({ ...aCredit(accountId), amount: usd('2') })

    expect((await waiting).outcome).toBe('held')
  })

  test('a request continues to wait while the freed money is not enough', async () => {
    const { place, queue } = await aQueue()
    const first = heldBy(await place(usd('5')))
    const second = heldBy(await place(usd('5')))
    const waiting = place(usd('8'))
    const seen = watch({ waiting })

    await queue.release(first)
    await settled()
    const afterOne = [...seen]
    await queue.release(second)
    await waiting

    expect(afterOne).toEqual([])
    expect(seen).toEqual(['waiting held'])
  })

  test('a request is refused as soon as running ones have spent the money it waits for', async () => {
    const { ledger, place, apiKeyId } = await aQueue()
    const running = heldBy(await place(usd('9')))
    const waiting = place(usd('3'))

    await ledger.captureHold(running, aCharge(apiKeyId, { tokens: 8 }))

    expect(await waiting).toEqual(refused(usd('2'), ZERO))
  })
})

describe('waiting requests', () => {
  test('waiting requests are served in order, and a smaller one does not overtake', async () => {
    const { place, queue } = await aQueue()
    const running = heldBy(await place(usd('9')))
    const large = place(usd('10'))
    await settled()
    const outcomes = { large, small: place(usd('1')), last: place(usd('2')) }
    const seen = watch(outcomes)
    await settled()
    const before = [...seen]

    await queue.release(running)
    const held = heldBy(await large)
    await settled()
    const afterOne = [...seen]
    await queue.release(held)
    await Promise.all(Object.values(outcomes))

    expect(before).toEqual([])
    expect(afterOne).toEqual(['large held'])
    expect(seen).toEqual(['large held', 'small held', 'last held'])
  })

  test('waiting requests are refused when their time is over, with the balance of that moment', async () => {
    const { place, queue, clock } = await aQueue()
    await place(usd('9'))
    const waiting = place(usd('3'))
    const seen = watch({ waiting })
    await settled()

    clock.advance(WAIT_MS - 1)
    await settled()
    const early = [...seen]
    clock.advance(1)

    expect(await waiting).toEqual(refused(usd('1'), usd('9')))
    expect(early).toEqual([])
    expect({ waiting: queue.waiting, timers: clock.waiting }).toEqual({ waiting: 0, timers: 0 })
  })

  test('waiting requests let the next one try when their time is over', async () => {
    const { place, clock } = await aQueue()
    await place(usd('9'))
    const large = place(usd('10'))
    await settled()
    clock.advance(1000)
    const small = place(usd('1'))
    await settled()

    clock.advance(WAIT_MS - 1000)

    expect((await large).outcome).toBe('refused')
    expect((await small).outcome).toBe('held')
  })

  test('waiting requests are refused when their client disconnects, and the next one tries', async () => {
    const { place, queue, clock, balance } = await aQueue()
    await place(usd('9'))
    const leaving = new AbortController()
    const large = place(usd('10'), leaving)
    const small = place(usd('1'))
    await settled()

    leaving.abort()

    expect((await large).outcome).toBe('refused')
    expect((await small).outcome).toBe('held')
    expect(await balance()).toEqual({ available: ZERO, held: usd('10') })
    expect({ waiting: queue.waiting, timers: clock.waiting }).toEqual({ waiting: 0, timers: 0 })
  })

  test('waiting requests do not begin to wait if their client has disconnected', async () => {
    const { place, queue } = await aQueue()
    await place(usd('9'))

    const outcome = await place(usd('3'), { signal: AbortSignal.abort() })

    expect(outcome.outcome).toBe('refused')
    expect(queue.waiting).toBe(0)
  })

  test('waiting requests leave no hold behind if their client disconnects while it is placed', async () => {
    const { place, queue, balance } = await aQueue()
    const running = heldBy(await place(usd('9')))
    const leaving = new AbortController()
    const waiting = place(usd('3'), leaving)
    await settled()

    // The release wakes the request, which places its hold before the client is seen to leave.
    const released = queue.release(running)
    leaving.abort()
    await released
    const outcome = await waiting
    await settled()

    expect(outcome.outcome).toBe('refused')
    expect(await balance()).toEqual({ available: usd('10'), held: ZERO })
  })

  test('waiting requests fail when the ledger fails', async () => {
    let isBroken = false
    const { place, queue } = await aQueue({
      ledgerFrom: ledger => ({
        ...ledger,
        placeHold: request =>
          isBroken ? Promise.reject(new Error('The disk is gone.')) : ledger.placeHold(request),
      }),
    })
    const running = heldBy(await place(usd('9')))
    const waiting = [place(usd('3')), place(usd('4'))]
    await settled()

    isBroken = true
    await queue.release(running)

    const outcomes = await Promise.allSettled(waiting)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(queue.waiting).toBe(0)
  })

  test('waiting requests are refused if the books become wrong while they wait', async () => {
    const { place, queue, anchor } = await aQueue()
    const running = heldBy(await place(usd('9')))
    const waiting = [place(usd('3')), place(usd('4'))]
    await settled()

    anchor.problem = 'It names commits that are missing.'
    await queue.release(running)

    for (const outcome of waiting)
      expect(await rejection(outcome)).toHaveProperty('code', 'books_inconsistent')
    expect(queue.waiting).toBe(0)
  })

  test('waiting requests have a maximum number; the next one is refused at once', async () => {
    const { place, queue, clock } = await aQueue()
    await place(usd('9'))
    const waiting = Array.from({ length: HOLD_WAITERS_MAX }, () => place(usd('3')))
    await settled()

    const outcome = await place(usd('3'))

    expect(outcome.outcome).toBe('refused')
    expect(queue.waiting).toBe(HOLD_WAITERS_MAX)
    clock.advance(WAIT_MS)
    await Promise.all(waiting)
    expect({ waiting: queue.waiting, timers: clock.waiting }).toEqual({ waiting: 0, timers: 0 })
  })

  test('waiting requests do not delay a request that could never fit', async () => {
    const { place } = await aQueue()
    await place(usd('9'))
    void place(usd('3'))
    await settled()

    const outcome = await place(usd('11'))

    expect(outcome).toEqual(refused(usd('1'), usd('9')))
  })

  test('waiting requests do not delay a request of no amount', async () => {
    const { place } = await aQueue()
    await place(usd('9'))
    void place(usd('3'))
    await settled()

    expect((await place(ZERO)).outcome).toBe('held')
  })

  test('waiting requests do not delay requests of other accounts', async () => {
    const { store, place, queue } = await aQueue()
    await place(usd('9'))
    void place(usd('3'))
    const { accountId } = await anAccount(store, { funds: usd('1') })
    await settled()

    const outcome = await queue.place(aTextHold({ accountId, amount: usd('1') }), {
      signal: new AbortController().signal,
    })

    expect(outcome.outcome).toBe('held')
  })
})

describe('without hints of freed money', () => {
  /** A ledger that never calls its listeners. */
  const withoutHints = (setup: Setup = {}) =>
    aQueue({ ...setup, ledgerFrom: ledger => ({ ...ledger, onFreed: () => undefined }) })

  test('a waiting request tries again at intervals', async () => {
    const { place, queue, clock } = await withoutHints()
    const running = heldBy(await place(usd('9')))
    const waiting = place(usd('3'))
    const seen = watch({ waiting })
    await settled()
    await queue.release(running)

    clock.advance(RETRY_EVERY_MS - 1)
    await settled()
    const early = [...seen]
    clock.advance(1)

    expect((await waiting).outcome).toBe('held')
    expect(early).toEqual([])
    expect({ waiting: queue.waiting, timers: clock.waiting }).toEqual({ waiting: 0, timers: 0 })
  })

  test('every interval counts, not only the first', async () => {
    const { place, queue, clock } = await withoutHints()
    const running = heldBy(await place(usd('9')))
    const waiting = place(usd('3'))
    await settled()
    clock.advance(3 * RETRY_EVERY_MS)
    await settled()
    await queue.release(running)

    clock.advance(RETRY_EVERY_MS)

    expect((await waiting).outcome).toBe('held')
  })

  test('a waiting request tries a last time when its time is over', async () => {
    // Between two intervals.
    const waitMs = 5.5 * RETRY_EVERY_MS
    const { place, queue, clock } = await withoutHints({ waitMs })
    const running = heldBy(await place(usd('9')))
    const waiting = place(usd('3'))
    await settled()
    clock.advance(waitMs - 1)
    await settled()
    await queue.release(running)

    clock.advance(1)

    expect((await waiting).outcome).toBe('held')
  })
})

test('with a wait of 0 ms a request is refused at once', async () => {
  const { place } = await aQueue({ waitMs: 0 })
  await place(usd('9'))

  expect(await place(usd('3'))).toEqual(refused(usd('1'), usd('9')))
})

describe('in check mode', () => {
  test('nothing is held, so concurrent requests can together spend more than the balance', async () => {
    const { ledger, place, balance, apiKeyId } = await aQueue({ mode: 'check', funds: usd('1') })

    const holds = await Promise.all([place(usd('1')), place(usd('1')), place(usd('1'))])
    const before = await balance()
    for (const hold of holds) await ledger.captureHold(heldBy(hold), aCharge(apiKeyId))

    expect(before).toEqual({ available: usd('1'), held: ZERO })
    expect(await balance()).toEqual({ available: usd('-2'), held: ZERO })
  })

  test('a request above the balance is refused at once', async () => {
    const { place } = await aQueue({ mode: 'check', funds: usd('1') })

    const outcome = await place(usd('1.000000001'))

    expect(outcome).toEqual(refused(usd('1'), ZERO))
  })

  test('a request waits for a budget that running requests reserve', async () => {
    const { store, queue, place, ...payer } = await aQueue({ mode: 'check', funds: usd('9') })
    await changeLimits(store, payer, { budgets: { day: usd('4') } })
    const running = heldBy(await place(usd('3')))
    const waiting = place(usd('2'))
    await settled()
    const waited = queue.waiting

    await queue.release(running)

    expect(waited).toBe(1)
    expect(heldBy(await waiting).amount).toBe(ZERO)
  })

  test('a request that waited for a budget is refused if the balance has become too low', async () => {
    const { store, ledger, place, ...payer } = await aQueue({ mode: 'check', funds: usd('5') })
    await changeLimits(store, payer, { budgets: { day: usd('4') } })
    const running = heldBy(await place(usd('3')))
    const waiting = place(usd('2'))
    await settled()
    const { accountId } = payer
    await ledger.debit({ id: anId(), accountId, amount: usd('4'), allowNegative: true, audit: anAudit() })

    await ledger.releaseHold(running, NOW)

    expect(await waiting).toEqual(refused(usd('1'), ZERO))
  })

  test('a request of no amount passes with any balance', async () => {
    const { ledger, place, apiKeyId } = await aQueue({ mode: 'check', funds: usd('1') })
    const hold = heldBy(await place(usd('1')))
    await ledger.captureHold(hold, aCharge(apiKeyId, { tokens: 3 }))

    expect((await place(ZERO)).outcome).toBe('held')
  })
})

test('setting the wall clock back or forward does not change how long a request waits', async () => {
  const { place, clock } = await aQueue()
  await place(usd('9'))
  const waiting = [place(usd('3')), place(usd('4'))]
  const seen = watch({ first: waiting[0]!, second: waiting[1]! })
  await settled()

  clock.setWallClock(clock.now() - 3_600_000)
  clock.advance(WAIT_MS - 1)
  clock.setWallClock(clock.now() + 7_200_000)
  await settled()
  const early = [...seen]
  clock.advance(1)
  await Promise.all(waiting)

  expect(early).toEqual([])
  expect(seen).toEqual(['first refused', 'second refused'])
})

test('of 200 concurrent requests on a balance for ten, ten run at a time, and all of them run', async () => {
  const { place, ledger, balance, apiKeyId } = await aQueue({ funds: usd('10') })
  let running = 0
  let runningMax = 0
  const run = async () => {
    const hold = heldBy(await place(usd('1')))
    running += 1
    runningMax = Math.max(runningMax, running)
    await settled()
    running -= 1
    await ledger.captureHold(hold, aCharge(apiKeyId, { tariff: null, cost: usd('0.001') }))
  }

  // If each had cost its worst case, the last ones would not fit.
  await Promise.all(Array.from({ length: 200 }, run))

  expect(runningMax).toBe(10)
  expect(await balance()).toEqual({ available: usd('9.8'), held: ZERO })
})

describe('requests of a key whose budget is reserved', () => {
  /** Requests of two keys of an account with 10 USD. The first key may spend 5 USD a day. */
  async function aBudgetQueue() {
    const opened = await aQueue()
    const { store, queue, accountId, apiKeyId } = opened
    const { id: otherKey } = await store.apiKeys.create({
      publicId: 'key_other',
      accountId,
      name: 'other',
      hash: new Uint8Array(32),
      prefix: 'tg_live_efgh',
      audit: anAudit(),
    })
    await changeLimits(store, { accountId, apiKeyId }, { budgets: { day: usd('5') } })
    const client = { signal: new AbortController().signal }
    const other = (amount: NanoUsd) =>
      queue.place(aTextHold({ accountId, apiKeyId: otherKey, amount }), client)
    return { ...opened, other }
  }

  test('requests of a key wait for its reserved budget, and do not delay the other keys of the account', async () => {
    const { place, other, queue } = await aBudgetQueue()
    const running = heldBy(await place(usd('4')))
    const waiting = place(usd('3'))
    await settled()
    const waited = queue.waiting

    const passing = await other(usd('3'))
    await queue.release(running)

    expect([waited, passing.outcome, (await waiting).outcome]).toEqual([1, 'held', 'held'])
    expect(queue.waiting).toBe(0)
  })

  test('requests of a key whose budget is reserved wait in order', async () => {
    const { place, queue } = await aBudgetQueue()
    const running = heldBy(await place(usd('4')))
    const large = place(usd('3'))
    await settled()
    const seen = watch({ large, small: place(usd('1')) })
    await settled()
    const before = [...seen]

    await queue.release(running)
    await settled()

    expect([before, seen]).toEqual([[], ['large held', 'small held']])
  })

  test('requests of the keys of a project wait in one order for its reserved budget, and delay no other key', async () => {
    const { store, queue, accountId, place } = await aQueue()
    const limits = { budgets: { day: usd('5') } }
    const project = await aProject(store, { accountId, limits })
    const [first, second] = [await aKeyIn(store, project), await aKeyIn(store, project)]
    const client = { signal: new AbortController().signal }
    const placeFor = ({ id: apiKeyId }: { readonly id: number }, amount: NanoUsd) =>
      queue.place(aTextHold({ accountId, apiKeyId, projectId: project.id, amount }), client)
    const running = heldBy(await placeFor(first, usd('4')))
    const large = placeFor(first, usd('3'))
    await settled()
    const seen = watch({ large, small: placeFor(second, usd('1')) })
    const outside = await place(usd('1'))
    await settled()
    const before = [...seen]

    await queue.release(running)
    await settled()

    expect(outside.outcome).toBe('held')
    expect([before, seen]).toEqual([[], ['large held', 'small held']])
  })

  test('requests of a key are refused after the wait, with the budget', async () => {
    const { place, clock, queue } = await aBudgetQueue()
    await place(usd('4'))
    const waiting = place(usd('3'))
    await settled()

    clock.advance(WAIT_MS)

    expect(await waiting).toMatchObject({
      outcome: 'limited',
      refusal: { limit: 'budget', isReserved: true },
    })
    expect({ waiting: queue.waiting, timers: clock.waiting }).toEqual({ waiting: 0, timers: 0 })
  })

  test('requests of a key are refused at once if they could never fit, also behind requests that wait', async () => {
    const { place, queue } = await aBudgetQueue()
    await place(usd('4'))
    void place(usd('3'))
    await settled()

    const outcome = await place(usd('5.000000001'))

    expect(outcome).toMatchObject({ outcome: 'limited', refusal: { isReserved: false } })
    expect(queue.waiting).toBe(1)
  })

  test('requests leave the queue of the balance when they wait for the budget only', async () => {
    const { place, other, queue } = await aBudgetQueue()
    const ofKey = heldBy(await place(usd('4')))
    const ofOther = heldBy(await other(usd('5')))
    // The balance has 1 USD left, and so has the budget of the first key.
    const later = other(usd('2'))
    const limited = place(usd('3'))
    const last = other(usd('1'))
    await settled()

    await queue.release(ofOther)
    const passed = [(await later).outcome, (await last).outcome]
    await queue.release(ofKey)

    expect(passed).toEqual(['held', 'held'])
    expect((await limited).outcome).toBe('held')
  })
})
