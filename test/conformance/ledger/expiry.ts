import { describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/domain/ids.ts'
import { HOLD_RENEW_EVERY_MS, HOLD_TTL_MS } from '../../../src/domain/ledger/hold.ts'
import { usd, ZERO } from '../../../src/domain/money.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import {
  aCharge,
  aChargeOf,
  aHold,
  anId,
  anImagesCharge,
  available,
  hold,
  NOW,
  openWithFunds,
} from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** Holds that their owner no longer renews. */
export function expiryConforms(kind: StoreKind): void {
  async function setUp() {
    const clock = fakeClock(NOW)
    const { store, other, reopen, ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('5'), {
      clock,
    })
    return { clock, store, reopen, ledger, other: other.ledger, accountId, apiKeyId }
  }

  describe.each(['text', 'media'] as const)('the expiry of %s holds', holdKind => {
    async function setUpWithHold() {
      const opened = await setUp()
      const { ledger, accountId } = opened
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      return { ...opened, held }
    }

    async function setUpWithExpired() {
      const opened = await setUpWithHold()
      opened.clock.advance(HOLD_TTL_MS)
      await opened.ledger.expireHolds([opened.held], opened.clock.now())
      return opened
    }

    test('a hold is listed as expired after its time, on every node, and not before', async () => {
      const { clock, ledger, other, held } = await setUpWithHold()

      clock.advance(HOLD_TTL_MS - 1)
      const early = [...(await ledger.expiredHolds(10)), ...(await other.expiredHolds(10))]
      clock.advance(1)
      const late = [await ledger.expiredHolds(10), await other.expiredHolds(10)]

      expect(early).toEqual([])
      const { id, accountId, amount } = held
      expect(late).toMatchObject([
        [{ id, accountId, kind: holdKind, amount }],
        [{ id, accountId, kind: holdKind, amount }],
      ])
    })

    test('a hold that its owner renews does not expire', async () => {
      const { clock, ledger, other } = await setUpWithHold()

      for (let renewals = 0; renewals < 10; renewals += 1) {
        clock.advance(HOLD_RENEW_EVERY_MS)
        await ledger.renewHolds()
      }

      expect(await other.expiredHolds(10)).toEqual([])
    })

    test('another node cannot renew a hold', async () => {
      const { clock, ledger, other } = await setUpWithHold()
      clock.advance(HOLD_TTL_MS - 1)

      await other.renewHolds()
      clock.advance(1)

      expect(await ledger.expiredHolds(10)).toHaveLength(1)
    })

    test('at most the requested number of expired holds is listed', async () => {
      const { clock, ledger, accountId } = await setUpWithHold()
      await hold(ledger, { accountId, kind: holdKind, amount: usd('1') })
      await hold(ledger, { accountId, kind: holdKind, amount: usd('1') })
      clock.advance(HOLD_TTL_MS)

      expect(await ledger.expiredHolds(2)).toHaveLength(2)
    })

    test('of 100 expirations of one hold on two nodes, one frees it', async () => {
      const { clock, ledger, other, held, accountId } = await setUpWithHold()
      clock.advance(HOLD_TTL_MS)

      const freed = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          (index % 2 === 0 ? ledger : other).expireHolds([held], clock.now()),
        ),
      )

      expect(freed.filter(count => count === 1)).toHaveLength(1)
      expect(freed.filter(count => count === 0)).toHaveLength(99)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('5'),
        held: { text: ZERO, media: ZERO },
      })
      expect(await ledger.expiredHolds(10)).toEqual([])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('of many holds at once, those that have expired are freed, each once, and the others stay', async () => {
      const { clock, ledger, other, held, accountId } = await setUpWithHold()
      clock.advance(HOLD_TTL_MS)
      const amount = usd('0.001')
      const others = await Promise.all(
        Array.from({ length: 150 }, () => hold(ledger, { accountId, kind: holdKind, amount })),
      )
      const young = others[0]!
      clock.advance(HOLD_TTL_MS - 1)
      const early = await other.expireHolds([...others, held, held], clock.now())
      clock.advance(1)
      const late = await other.expireHolds([held, ...others, { ...young, id: anId() }], clock.now())

      expect(late + early).toBe(151)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('5'),
        held: { text: ZERO, media: ZERO },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a hold that was renewed after it was listed is not freed', async () => {
      const { clock, ledger, other, held, accountId } = await setUpWithHold()
      clock.advance(HOLD_TTL_MS)
      const listed = await other.expiredHolds(10)
      await ledger.renewHolds()

      const freed = await other.expireHolds([held], clock.now())

      expect(listed).toHaveLength(1)
      expect(freed).toBe(0)
      expect(await available(ledger, accountId)).toBe(usd('3'))
    })

    test.each(['captured', 'released', 'never placed'] as const)(
      'a hold that was %s is not freed',
      async state => {
        const { clock, ledger, held, accountId, apiKeyId } = await setUpWithHold()
        if (state === 'captured') await ledger.captureHold(held, aChargeOf(holdKind, apiKeyId))
        if (state === 'released') await ledger.releaseHold(held, NOW)
        const target = state === 'never placed' ? { ...held, id: anId() } : held
        const before = await ledger.balance(accountId)
        clock.advance(HOLD_TTL_MS)

        const freed = await ledger.expireHolds([target], clock.now())

        expect(freed).toBe(0)
        expect(await ledger.balance(accountId)).toEqual(before)
      },
    )

    test('releasing an expired hold changes nothing', async () => {
      const { ledger, held, accountId } = await setUpWithExpired()

      await ledger.releaseHold(held, NOW)

      expect(await available(ledger, accountId)).toBe(usd('5'))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('an expired hold cannot be placed again', async () => {
      const { ledger, held, accountId } = await setUpWithExpired()

      const error = await rejection(ledger.placeHold({ ...held, atMs: NOW }))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('5'))
    })

    test('listeners are told when a hold expires', async () => {
      const { clock, ledger, held, accountId } = await setUpWithHold()
      const told: number[] = []
      ledger.onFreed(freed => told.push(freed))
      clock.advance(HOLD_TTL_MS)

      await ledger.expireHolds([held], clock.now())

      expect(told).toContain(accountId)
    })

    test.each([
      ['captures', 'expires'],
      ['expires', 'captures'],
    ])('if one node %s a hold while the other %s it, it ends once', async first => {
      const { clock, ledger, other, held, accountId, apiKeyId } = await setUpWithHold()
      clock.advance(HOLD_TTL_MS)
      const capture = () => ledger.captureHold(held, aChargeOf(holdKind, apiKeyId))
      const expire = () => other.expireHolds([held], clock.now())

      const calls = first === 'captures' ? [capture(), expire()] : [expire(), capture()]
      const outcomes = await Promise.allSettled(calls)

      const charges = await ledger.usage(accountId, { limit: 5 })
      const captured = outcomes.filter(({ status }) => status === 'fulfilled').length === 2
      expect(captured || holdKind === 'media').toBe(true)
      expect(charges).toHaveLength(captured ? 1 : 0)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: captured ? usd('4') : usd('5'),
        held: { text: ZERO, media: ZERO },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })
  })

  describe('an expired text hold', () => {
    async function setUpExpired() {
      const opened = await setUp()
      const { clock, ledger, accountId } = opened
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('5') })
      clock.advance(HOLD_TTL_MS)
      await ledger.expireHolds([held], clock.now())
      return { ...opened, held }
    }

    test('an expired text hold is still charged, with the whole cost as shortfall, below zero if needed', async () => {
      const { ledger, held, accountId, apiKeyId } = await setUpExpired()
      await hold(ledger, { accountId, kind: 'media', amount: usd('4') })

      const captured = await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 3 }))

      expect(captured).toEqual({ cost: usd('3'), shortfall: usd('3') })
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('-2'),
        held: { text: ZERO, media: usd('4') },
        spent: { text: usd('3') },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('an expired text hold is charged once, however often it is captured', async () => {
      const { ledger, other, held, accountId, apiKeyId } = await setUpExpired()

      const captured = await Promise.all(
        [ledger, other, ledger].map(one => one.captureHold(held, aCharge(apiKeyId))),
      )

      expect(new Set(captured.map(({ shortfall }) => shortfall))).toEqual(new Set([usd('1')]))
      expect(await available(ledger, accountId)).toBe(usd('4'))
    })
  })

  describe('an expired media hold', () => {
    test('an expired media hold cannot be captured, and is in the statement as expired', async () => {
      const { clock, ledger, accountId, apiKeyId } = await setUp()
      const held = await hold(ledger, { accountId, kind: 'media', amount: usd('2') })
      clock.advance(HOLD_TTL_MS)
      await ledger.expireHolds([held], clock.now())

      const error = await rejection(ledger.captureHold(held, anImagesCharge(apiKeyId)))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('5'))
      expect(await ledger.statement(accountId, { limit: 1 })).toMatchObject([
        { kind: 'expire', amount: usd('2'), id: held.id, atMs: clock.now() },
      ])
    })

    test('an expired media hold of a node that is gone is freed after a restart', async () => {
      const { clock, reopen, ledger: before, accountId } = await setUp()
      const held = await hold(before, { accountId, kind: 'media', amount: usd('2') })
      const { ledger } = await reopen()
      await ledger.renewHolds()
      clock.advance(HOLD_TTL_MS)

      const freed = await ledger.expireHolds([held], clock.now())

      expect(freed).toBe(1)
      expect(await available(ledger, accountId)).toBe(usd('5'))
    })
  })

  test('the hold of a job does not expire', async () => {
    const { clock, ledger, accountId, apiKeyId } = await setUp()
    const job: Id = anId()
    const request = { ...aHold({ accountId, kind: 'media', amount: usd('2') }), job }
    await ledger.placeHold(request)
    clock.advance(100 * HOLD_TTL_MS)

    const listed = await ledger.expiredHolds(10)
    const freed = await ledger.expireHolds([request], clock.now())
    const captured = await ledger.captureHold(request, anImagesCharge(apiKeyId))

    expect(listed).toEqual([])
    expect(freed).toBe(0)
    expect(captured).toEqual({ cost: usd('1'), shortfall: ZERO })
  })
}
