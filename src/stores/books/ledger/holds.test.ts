import { describe, expect, test } from 'bun:test'
import { NO_BALANCES } from '../../../domain/ledger/books.ts'
import { nanoUsd, ZERO } from '../../../domain/money.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import type { Hold } from '../../../gateway/ports/ledger/ledger.ts'
import {
  captureMediaHold,
  captureTextHold,
  freeMediaHold,
  isTextHoldPlaced,
  placeMediaHold,
  type HoldRow,
} from './holds.ts'
import type { AccountState } from '../rows/operation-rows.ts'

const NOW = 1_000_000

const hold: Hold = { id: { key: 1n, tail: 2n }, accountId: 7, kind: 'media', amount: nanoUsd(10n) }

function aRow(changes: Partial<HoldRow> = {}): HoldRow {
  return {
    id_key: 1n,
    id_tail: 2n,
    account_id: 7n,
    kind: 'media',
    amount: 10n,
    state: 'open',
    expires_at_ms: 2_000_000n,
    ...changes,
  }
}

function booksWith({ available, heldText = 0n }: { available: bigint; heldText?: bigint }): AccountState {
  return {
    accountId: 7,
    current: {
      balances: { ...NO_BALANCES, available: nanoUsd(available), 'held.media': nanoUsd(3n) },
      bookedLosses: ZERO,
      operationCount: 4,
      latestOperationId: 40n,
      latestChargeId: null,
      isClosed: false,
      alert: null,
    },
    heldText: nanoUsd(heldText),
    free: nanoUsd(available - heldText),
  }
}

function aClip(cost: bigint): Charge {
  return {
    kind: 'video',
    route: 'v1/videos',
    model: 'clip',
    provider: 'sandbox',
    apiKeyId: 1,
    cost: nanoUsd(cost),
    providerCost: null,
    atMs: NOW,
    durationMs: 5000,
    tariff: { perSecond: nanoUsd(1n) },
  }
}

describe('placing a media hold', () => {
  const by = { owner: 9n, expiresAtMs: 2_000_000, atMs: NOW }
  const place = (found: HoldRow | null, books: AccountState, of = hold) =>
    placeMediaHold({ found, books, nextOperationId: 41n }, of, by)

  test('placing a media hold moves its money in the operation that its row names', () => {
    const { outcome, write } = place(null, booksWith({ available: 10n }))

    expect(outcome).toEqual({ outcome: 'held', hold })
    expect(write?.operation.movements).toEqual([
      { from: 'available', to: 'held.media', amount: nanoUsd(10n) },
    ])
    expect(write?.row).toMatchObject({
      placed_by: 41n,
      state: 'open',
      expires_at_ms: 2_000_000,
      job_key: null,
    })
  })

  test('placing a media hold names no operation if the hold is of zero, because nothing moves', () => {
    const { write } = place(null, booksWith({ available: 0n }), { ...hold, amount: ZERO })

    expect(write?.row.placed_by).toBeNull()
  })

  test('placing a media hold is refused if running text requests hold the rest of the money', () => {
    const { outcome, write } = place(null, booksWith({ available: 15n, heldText: 6n }))

    expect(outcome).toEqual({
      outcome: 'refused',
      available: nanoUsd(9n),
      held: nanoUsd(9n),
      heldText: nanoUsd(6n),
    })
    expect(write).toBeUndefined()
  })

  test('placing a media hold writes nothing for a hold that is open', () => {
    expect(place(aRow(), booksWith({ available: 0n }))).toEqual({ outcome: { outcome: 'held', hold } })
  })

  test.each([
    ['that was released', aRow({ state: 'released' }), 'is released already'],
    ['of another amount', aRow({ amount: 11n }), 'was given to another hold'],
    ['of another account', aRow({ account_id: 8n }), 'was given to another hold'],
  ])('placing a media hold throws for the id of a hold %s', (_, found, message) => {
    expect(() => place(found, booksWith({ available: 99n }))).toThrow(message)
  })
})

describe('capturing a media hold', () => {
  const capture = (
    found: HoldRow | null,
    charge: Charge,
    first: Parameters<typeof captureMediaHold>[0]['first'] = null,
  ) => captureMediaHold({ found, first, nextOperationId: 41n }, hold, charge)

  test('capturing a media hold takes the cost, frees the rest, and ends the hold by one operation', () => {
    const { captured, write } = capture(aRow(), aClip(4n))

    expect(captured).toEqual({ cost: nanoUsd(4n), shortfall: ZERO })
    expect(write?.operation.movements.filter(({ amount }) => amount > 0n)).toEqual([
      { from: 'held.media', to: 'revenue.media', amount: nanoUsd(4n) },
      { from: 'held.media', to: 'available', amount: nanoUsd(6n) },
    ])
    expect(write?.booking.operationId).toBe(41n)
    expect(write?.end).toEqual({ state: 'captured', resolvedBy: 41n, atMs: NOW })
  })

  test('capturing a media hold for nothing frees the hold by an operation that the charge does not name', () => {
    const { write } = capture(aRow(), aClip(0n))

    expect(write?.booking.operationId).toBeNull()
    expect(write?.end.resolvedBy).toBe(41n)
  })

  test('capturing a media hold returns the first outcome of a repeat, and writes nothing', () => {
    const first = { account_id: 7n, cost: 4n, shortfall: 0n }

    expect(capture(aRow({ state: 'captured' }), aClip(4n), first)).toEqual({
      captured: { cost: nanoUsd(4n), shortfall: ZERO },
    })
  })

  test.each([
    ['an expired hold', aRow({ state: 'expired' }), aClip(4n), null, 'is not open'],
    ['a repeat with another cost', aRow({ state: 'captured' }), aClip(4n), 5n, 'was captured before'],
    ['an id that was charged without its hold', aRow(), aClip(4n), 4n, 'was charged without its hold'],
    ['a cost above the hold', aRow(), aClip(11n), null, 'exceeds its hold'],
  ])('capturing a media hold throws for %s', (_, found, charge, charged, message) => {
    const first = charged === null ? null : { account_id: 7n, cost: charged, shortfall: 0n }

    expect(() => capture(found, charge, first)).toThrow(message)
  })
})

describe('freeing a media hold', () => {
  const free = (found: HoldRow | null, to: Parameters<typeof freeMediaHold>[2]) =>
    freeMediaHold({ found, nextOperationId: 41n }, hold, to)

  test.each([
    ['released', 'release'],
    ['expired', 'expire'],
  ] as const)('freeing a media hold that is %s gives back its whole amount', (state, kind) => {
    const ended = free(aRow(), { state, atMs: NOW, nowMs: 2_000_000 })

    expect(ended?.operation).toMatchObject({
      kind,
      movements: [{ from: 'held.media', to: 'available', amount: nanoUsd(10n) }],
    })
    expect(ended?.end).toEqual({ state, resolvedBy: 41n, atMs: NOW })
  })

  test.each([
    ['that was captured', aRow({ state: 'captured' })],
    ['whose time is not over', aRow({ expires_at_ms: 2_000_001n })],
    ['of a job, which has no end', aRow({ expires_at_ms: null })],
    ['that was never placed', null],
  ])('freeing a media hold does not expire a hold %s', (_, found) => {
    expect(free(found, { state: 'expired', atMs: NOW, nowMs: 2_000_000 })).toBeUndefined()
  })
})

describe('a text hold', () => {
  const text = { id: hold.id, amount: nanoUsd(3n) }
  const charge = { kind: 'text', cost: nanoUsd(5n), atMs: NOW } as const
  const capture = (state: 'open' | 'expired' | 'ended', changes = {}) =>
    captureTextHold({ ...text, state }, { ...charge, ...changes }, 41n)

  test('a text hold that expired is charged as a whole as shortfall', () => {
    const [open, expired] = [capture('open'), capture('expired')]

    expect(open?.captured).toEqual({ cost: nanoUsd(5n), shortfall: nanoUsd(2n) })
    expect(expired?.captured).toEqual({ cost: nanoUsd(5n), shortfall: nanoUsd(5n) })
    expect(expired?.operation).toEqual(open!.operation)
  })

  test('a text hold is charged in the operation that its charge names, and in none without a cost', () => {
    expect(capture('open')?.booking).toEqual({ id: hold.id, shortfall: nanoUsd(2n), operationId: 41n })
    expect(capture('open', { cost: ZERO })?.booking.operationId).toBeNull()
  })

  test('a text hold that has ended is not charged again', () => {
    expect([capture('ended'), captureTextHold(undefined, charge, 41n)]).toEqual([undefined, undefined])
  })

  test('a text hold is not charged for a clip', () => {
    expect(() => capture('open', { kind: 'video' })).toThrow(RangeError)
  })

  test('a text hold that is placed again is the same one if it is open and has the same amount', () => {
    const isPlaced = (state: 'open' | 'expired', amount = text.amount) =>
      isTextHoldPlaced({ amount: text.amount, state }, { id: hold.id, amount })

    expect([isTextHoldPlaced(undefined, text), isPlaced('open')]).toEqual([false, true])
    expect(() => isPlaced('expired')).toThrow('has expired')
    expect(() => isPlaced('open', nanoUsd(4n))).toThrow('was given to another hold')
  })
})
