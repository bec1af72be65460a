import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { aDataFolder } from '../../../../test/support/data-folder.ts'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import {
  aCharge,
  aCredit,
  aHold,
  anAccount,
  anAttempt,
  anImagesCharge,
  available,
  hold,
  NOW,
} from '../../../../test/support/ledger-builders.ts'
import { rejection } from '../../../../test/support/rejection.ts'
import { aSqliteStore, nodeSettings, sqlite, type TestSqlite } from '../../../../test/support/test-store.ts'
import { ledgerConforms } from '../../../../test/conformance/ledger.ts'
import type { Id } from '../../../domain/ids.ts'
import { HOLD_TTL_MS } from '../../../domain/ledger/hold.ts'
import { usd, ZERO } from '../../../domain/money.ts'

ledgerConforms(sqlite)

describe('a commit that fails', () => {
  test('a commit that fails charges nothing, and the hold stays until it is released', async () => {
    const { store, accountId, apiKeyId } = await openWithFunds()
    const { ledger } = store
    const held = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
    const before = await ledger.balance(accountId)
    failNextCommit(store)

    const error = await rejection(ledger.captureHold(held, aCharge(apiKeyId)))
    const after = await ledger.balance(accountId)
    await ledger.releaseHold(held, NOW)

    expect(error).toMatchObject({ code: 'unavailable', cause: { message: 'disk full' } })
    expect(after).toEqual(before)
    expect(await available(ledger, accountId)).toBe(usd('5'))
    expect(await ledger.verify()).toMatchObject({ problems: [] })
  })

  test('a commit that fails can be tried again', async () => {
    const { store, accountId, apiKeyId } = await openWithFunds()
    const { ledger } = store
    const held = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
    failNextCommit(store)
    await rejection(ledger.captureHold(held, aCharge(apiKeyId)))

    const captured = await ledger.captureHold(held, aCharge(apiKeyId))

    expect(captured.cost).toBe(usd('1'))
    expect(await available(ledger, accountId)).toBe(usd('4'))
    expect(await ledger.verify()).toMatchObject({ problems: [] })
  })

  test('a commit that fails does not hold the money of an expired hold again', async () => {
    const clock = fakeClock()
    const store = aSqliteStore(undefined, clock)
    const { accountId, apiKeyId } = await anAccount(store, { funds: usd('5') })
    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })
    clock.advance(HOLD_TTL_MS)
    await store.ledger.expireHolds([held], clock.now())
    failNextCommit(store)
    await rejection(store.ledger.captureHold(held, aCharge(apiKeyId)))

    const after = await store.ledger.balance(accountId)
    const captured = await store.ledger.captureHold(held, aCharge(apiKeyId))

    expect(after).toMatchObject({ available: usd('5'), held: { text: ZERO } })
    expect(captured).toEqual({ cost: usd('1'), shortfall: usd('1') })
  })

  test('a commit that fails changes nothing for all callers of its batch, including tariffs', async () => {
    const { store, accountId, apiKeyId } = await openWithFunds()
    const { ledger } = store
    const media = await hold(ledger, { accountId, kind: 'media', amount: usd('1') })
    const text = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
    const before = await ledger.balance(accountId)
    const charge = aCharge(apiKeyId)
    failNextCommit(store)

    const outcomes = await Promise.allSettled([
      ledger.credit({ ...aCredit(accountId), amount: usd('1') }),
      ledger.captureHold(text, charge),
      ledger.captureHold(media, anImagesCharge(apiKeyId)),
      ledger.placeHold(aHold({ accountId, kind: 'media', amount: usd('1') })),
    ])
    const after = await ledger.balance(accountId)
    await ledger.captureHold(text, charge)

    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    expect(after).toEqual(before)
    expect(await ledger.usage(accountId, { limit: 5 })).toMatchObject([
      { id: text.id, tariff: charge.tariff },
    ])
    expect(await ledger.verify()).toMatchObject({ problems: [] })
  })
})

describe('a batch', () => {
  test('a batch commits what it can, and a refused call leaves no trace', async () => {
    const { store, accountId, apiKeyId } = await openWithFunds()
    const { ledger } = store
    const held = await hold(ledger, { accountId, kind: 'media', amount: usd('1') })
    const twoImages = anImagesCharge(apiKeyId, 2)

    const outcomes = await Promise.allSettled([
      ledger.credit({ ...aCredit(accountId), amount: usd('1') }),
      ledger.captureHold(held, twoImages),
      ledger.placeHold(aHold({ accountId, kind: 'media', amount: usd('9') })),
      ledger.releaseHold(held, NOW),
    ])

    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected' },
      { status: 'fulfilled', value: { outcome: 'refused', available: usd('5'), held: usd('1') } },
      { status: 'fulfilled' },
    ])
    expect(await available(ledger, accountId)).toBe(usd('6'))
    expect(await ledger.verify()).toMatchObject({ problems: [] })
  })

  test('a batch sees its own changes: together its holds cannot take more than the balance', async () => {
    const { store, accountId } = await openWithFunds()
    const request = () => store.ledger.placeHold(aHold({ accountId, kind: 'media', amount: usd('2') }))

    const outcomes = await Promise.all([request(), request(), request()])

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'held', 'refused'])
  })

  test('a batch frees the rest of a text hold for the next step', async () => {
    const { store, accountId, apiKeyId } = await openWithFunds()
    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('5') })

    const [, outcome] = await Promise.all([
      store.ledger.captureHold(held, aCharge(apiKeyId)),
      store.ledger.placeHold(aHold({ accountId, kind: 'media', amount: usd('4') })),
    ])

    expect(outcome.outcome).toBe('held')
  })
})

describe('text holds', () => {
  test('text holds need no commit', async () => {
    const { store, accountId } = await openWithFunds()
    let commits = 0
    store.transactions.join({ afterCommit: () => (commits += 1) })

    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })
    await store.ledger.releaseHold(held, NOW)

    expect(commits).toBe(0)
  })

  test('text holds and media holds are each summed over all accounts', async () => {
    const { store, accountId } = await openWithFunds()
    const other = await anAccount(store, { funds: usd('5') })
    await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })
    await hold(store.ledger, { accountId: other.accountId, kind: 'text', amount: usd('1') })
    const media = await hold(store.ledger, { accountId, kind: 'media', amount: usd('2') })
    const before = await store.ledger.heldNow()

    await store.ledger.releaseHold(media, NOW)

    expect(before).toEqual({ text: usd('3'), media: usd('2') })
    expect((await store.ledger.heldNow()).media).toBe(ZERO)
  })

  test.each([10 * HOLD_TTL_MS, -10 * HOLD_TTL_MS])(
    'text holds expire by the monotonic clock: a step of the wall clock by %d ms changes nothing',
    async stepMs => {
      const clock = fakeClock()
      const store = aSqliteStore(undefined, clock)
      const { accountId } = await anAccount(store, { funds: usd('5') })
      const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })

      clock.setWallClock(clock.now() + stepMs)
      const afterStep = await store.ledger.expiredHolds(10)
      const freed = await store.ledger.expireHolds([held], clock.now())
      clock.advance(HOLD_TTL_MS)

      expect([afterStep, freed]).toEqual([[], 0])
      expect(await store.ledger.expiredHolds(10)).toMatchObject([{ id: held.id }])
    },
  )

  test('text holds do not expire while their charge waits for its commit', async () => {
    const clock = fakeClock()
    const store = aSqliteStore(undefined, clock)
    const { accountId, apiKeyId } = await anAccount(store, { funds: usd('5') })
    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })
    clock.advance(HOLD_TTL_MS)

    const capturing = store.ledger.captureHold(held, aCharge(apiKeyId))
    const freed = await store.ledger.expireHolds([held], clock.now())

    expect(freed).toBe(0)
    expect(await capturing).toEqual({ cost: usd('1'), shortfall: ZERO })
  })

  test('text holds with one id are charged once, also if the id is placed again after its charge', async () => {
    const { store, accountId, apiKeyId } = await openWithFunds()
    const request = aHold({ accountId, kind: 'text', amount: usd('1') })
    await store.ledger.placeHold(request)
    await store.ledger.captureHold(request, aCharge(apiKeyId))
    await store.ledger.placeHold(request)

    const again = await store.ledger.captureHold(request, aCharge(apiKeyId))

    expect(again).toEqual({ cost: usd('1'), shortfall: ZERO })
    expect(await store.ledger.balance(accountId)).toMatchObject({ available: usd('4'), held: { text: ZERO } })
    expect(await store.ledger.verify()).toMatchObject({ problems: [] })
  })
})

describe('a cursor of an earlier version', () => {
  test('a cursor of an earlier version of a usage list, the first half of an id, continues after that charge', async () => {
    const { store, accountId, apiKeyId } = await openWithFunds()
    const ids: Id[] = []
    for (let made = 0; made < 3; made += 1) {
      const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('1') })
      await store.ledger.captureHold(held, aCharge(apiKeyId))
      ids.unshift(held.id)
    }
    const before = String(ids[1]!.key)

    const own = await store.ledger.usage(accountId, { limit: 5, before })
    const all = await store.ledger.usage(undefined, { limit: 5, before })

    expect([own, all].map(lines => lines.map(({ id }) => id))).toEqual([[ids[2]!], [ids[2]!]])
  })

  test('a cursor of an earlier version of a statement or the audit log, a row id, continues after that row', async () => {
    const { store, accountId } = await openWithFunds()
    await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })

    const older = await store.ledger.statement(accountId, { limit: 5, before: '2' })
    const old = await store.ledger.statement(accountId, { limit: 5, before: 'r2' })
    const audit = await store.auditLog.list({ limit: 5, before: '3' })

    expect([older, old].map(lines => lines.map(({ number }) => number))).toEqual([[1], [1]])
    expect(audit.map(({ id }) => id)).toEqual([2n, 1n])
  })

  test.each(['2', 'r2', '999', 'r999'])(
    'a cursor of an earlier version of a statement gives an empty page if the account has no such row: %p',
    async before => {
      const { store, accountId } = await openWithFunds()
      await anAccount(store, { funds: usd('1') })

      const lines = await store.ledger.statement(accountId, { limit: 5, before })

      expect(lines).toEqual([])
    },
  )

  test.each(['', '-1', 'r', 'x7', '9'.repeat(19), 'req_01m7y7e9pn000erz6xh32q2gqs'])(
    'a text that no version gave is refused: %p',
    async before => {
      const { store, accountId } = await openWithFunds()
      const page = { limit: 5, before }

      const refused = await Promise.all([
        rejection(store.ledger.usage(accountId, page)),
        rejection(store.ledger.usage(undefined, page)),
        rejection(store.ledger.statement(accountId, page)),
        rejection(store.auditLog.list(page)),
      ])

      for (const error of refused)
        expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'cursor' } })
    },
  )
})

describe('the cursor of a statement', () => {
  test('the cursor of a statement is the number of the operation within its account, with the row that has it', async () => {
    const { store, accountId } = await openWithFunds()
    await anAccount(store, { funds: usd('1') })
    await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })

    const lines = await store.ledger.statement(accountId, { limit: 5 })

    expect(lines.map(({ cursor }) => cursor)).toEqual(['n2r3', 'n1r1'])
  })

  // The row r2 belongs to the other account, and r999 is missing, as after the restore of an older backup.
  test.each(['n1r3', 'n3r3', 'n1r2', 'n2r2', 'n2r999', 'n2', 'n2r', 'nr3', 'n2r3r3'])(
    'the cursor of a statement is refused if the account has no such operation: %p',
    async before => {
      const { store, accountId } = await openWithFunds()
      await anAccount(store, { funds: usd('1') })
      await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })

      const error = await rejection(store.ledger.statement(accountId, { limit: 5, before }))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'cursor' } })
    },
  )
})

describe('a node that closes', () => {
  test('a node that closes frees its text holds and leaves those of other nodes', async () => {
    const { store, accountId } = await openWithFunds()
    const other = store.openNode(nodeSettings('other', fakeClock()))
    await hold(store.ledger, { accountId, kind: 'text', amount: usd('1') })
    await hold(other.ledger, { accountId, kind: 'text', amount: usd('2') })

    other.close()

    expect(await available(store.ledger, accountId)).toBe(usd('4'))
  })

  test('a node that closes reports the money of its text holds to the other nodes, and nothing more to its own listeners', async () => {
    const { store, accountId } = await openWithFunds()
    const other = store.openNode(nodeSettings('other', fakeClock()))
    await hold(other.ledger, { accountId, kind: 'text', amount: usd('2') })
    const heard: string[] = []
    store.ledger.onFreed(freed => heard.push(`main: ${freed}`))
    other.ledger.onFreed(freed => heard.push(`other: ${freed}`))
    other.commitChains.onCommit(() => heard.push('other: a commit'))

    other.close()
    await store.ledger.credit({ ...aCredit(accountId), amount: usd('1') })

    expect(heard).toEqual([`main: ${accountId}`, `main: ${accountId}`])
  })
})

describe('the store', () => {
  test('the store commits a renewal of holds that waits when it closes', async () => {
    const store = aSqliteStore()

    const renewing = store.ledger.renewHolds()
    await store.close()

    expect(await renewing).toBeUndefined()
  })

  test('the store commits what waits when it closes', async () => {
    const path = join(aDataFolder(), 'tollgate.db')
    const store = aSqliteStore(path)
    const { accountId, apiKeyId } = await anAccount(store, { funds: usd('5') })
    const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })

    const capturing = store.ledger.captureHold(held, aCharge(apiKeyId))
    await store.close()
    const captured = await capturing
    const reopened = aSqliteStore(path)

    expect(captured.cost).toBe(usd('1'))
    expect(await available(reopened.ledger, accountId)).toBe(usd('4'))
  })

  test('the store knows the largest first half of its ids in every table', async () => {
    const store = aSqliteStore()
    const ofNothing = store.lastKey()
    const { accountId, apiKeyId } = await anAccount(store)
    const credit = await store.ledger.credit({ ...aCredit(accountId), amount: usd('5') })
    const ofCredit = store.lastKey()
    const media = await hold(store.ledger, { accountId, kind: 'media', amount: usd('1') })
    const ofHold = store.lastKey()
    const text = await hold(store.ledger, { accountId, kind: 'text', amount: usd('1') })
    await store.ledger.captureHold(text, aCharge(apiKeyId))

    const ofCharge = store.lastKey()
    const attempt = anAttempt({ accountId, apiKeyId })
    await store.attempts.record(attempt)
    const ofAttempt = store.lastKey()

    const keys = [credit.id.key, media.id.key, text.id.key, attempt.requestId.key]
    expect([ofNothing, ofCredit, ofHold, ofCharge, ofAttempt]).toEqual([0n, ...keys])
  })
})

async function openWithFunds() {
  const store = aSqliteStore()
  return { store, ...(await anAccount(store, { funds: usd('5') })) }
}

/** Fails the next commit, like a full disk. */
function failNextCommit({ transactions }: TestSqlite): void {
  let isFull = true
  transactions.join({
    beforeCommit: () => {
      if (isFull) throw new Error('disk full')
    },
    afterRollback: () => (isFull = false),
  })
}

test('the statement of some kinds is read from an index, without the charges of any account', () => {
  const { database } = aSqliteStore()

  const plan = database
    .query<{ detail: string }, []>(
      `EXPLAIN QUERY PLAN SELECT * FROM operations WHERE account_id = 1 AND kind <> 'charge' AND kind IN ('grant')
        AND number <= 9 ORDER BY number DESC LIMIT 5`,
    )
    .all()
    .map(({ detail }) => detail)

  expect(plan).toEqual([
    'SEARCH operations USING INDEX operations_beside_charges (account_id=? AND number<?)',
  ])
})
