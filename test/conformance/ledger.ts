import { describe, expect, test } from 'bun:test'
import { subtractUsd, usd, ZERO } from '../../src/domain/money.ts'
import {
  aCharge,
  aChargeOf,
  aCredit,
  aHold,
  anId,
  anImagesCharge,
  available,
  aVideoCharge,
  hold,
  NOW,
  openWithFunds,
} from '../support/ledger-builders.ts'
import { rejection } from '../support/rejection.ts'
import type { StoreKind } from '../support/test-store.ts'
import { compensationsConform } from './ledger/compensations.ts'
import { correctionsConform } from './ledger/corrections.ts'
import { creditsConform } from './ledger/credits.ts'
import { dayUsageConforms } from './ledger/day-usage.ts'
import { expiryConforms } from './ledger/expiry.ts'
import { restartsConform } from './ledger/restarts.ts'
import { statementConforms } from './ledger/statement.ts'
import { twoNodesConform } from './ledger/two-nodes.ts'
import { usageConforms } from './ledger/usage.ts'
import { usageGroupsConform } from './ledger/usage-groups.ts'

/** What the ledger of any store must do. */
export function ledgerConforms(kind: StoreKind): void {
  describe.each(['text', 'media'] as const)('%s holds', holdKind => {
    test('a hold moves its money from available to held, counted under its own kind', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('3'))

      const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') }))

      expect(outcome).toMatchObject({
        outcome: 'held',
        hold: { accountId, kind: holdKind, amount: usd('1') },
      })
      expect(await ledger.balance(accountId)).toEqual({
        available: usd('2'),
        held: { text: ZERO, media: ZERO, [holdKind]: usd('1') },
        spent: { text: ZERO, media: ZERO },
        credited: usd('3'),
      })
    })

    test('listeners are told of an account when it gets money and when its hold ends, before the caller is', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('2'))
      const captured = await hold(ledger, { accountId, kind: holdKind, amount: usd('1') })
      const released = await hold(ledger, { accountId, kind: holdKind, amount: usd('1') })
      const heard: string[] = []
      let step = 'credit'
      ledger.onFreed(freed => void (freed === accountId && heard.push(step)))

      await ledger.credit({ ...aCredit(accountId), amount: usd('1') })
      step = 'capture'
      await ledger.captureHold(captured, aChargeOf(holdKind, apiKeyId))
      step = 'release'
      await ledger.releaseHold(released, NOW)
      step = 'nothing'

      expect([...new Set(heard)]).toEqual(['credit', 'capture', 'release'])
    })

    test('a hold above the available balance is refused with the balance, and changes nothing', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('3'))
      await hold(ledger, { accountId, kind: 'text', amount: usd('0.5') })
      await hold(ledger, { accountId, kind: 'media', amount: usd('1') })
      const before = await ledger.balance(accountId)

      const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1.500000001') }))

      expect(outcome).toEqual({
        outcome: 'refused',
        available: usd('1.5'),
        held: usd('1.5'),
        heldText: usd('0.5'),
      })
      expect(await ledger.balance(accountId)).toEqual(before)
    })

    test('of two holds racing for the last dollar, one wins', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('1'))
      const place = () => ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') }))

      const outcomes = await Promise.all([place(), place()])

      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'refused'])
      expect(await available(ledger, accountId)).toBe(ZERO)
    })

    test('of 200 concurrent requests on a balance for 10, exactly 10 are held, and the books balance', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('10'))
      const request = async () => {
        const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('1') }))
        if (outcome.outcome === 'held') await ledger.captureHold(outcome.hold, aChargeOf(holdKind, apiKeyId))
        return outcome.outcome
      }

      const outcomes = await Promise.all(Array.from({ length: 200 }, request))

      expect(outcomes.filter(outcome => outcome === 'held')).toHaveLength(10)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: ZERO,
        spent: { [holdKind]: usd('10') },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('placing a hold again while it is open changes nothing', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('1'))
      const request = aHold({ accountId, kind: holdKind, amount: usd('1') })
      const first = await ledger.placeHold(request)

      const second = await ledger.placeHold(request)

      expect(second).toEqual(first)
      expect(await available(ledger, accountId)).toBe(ZERO)
    })

    test('the id of an open hold with another amount is refused and changes nothing', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('3'))
      const request = aHold({ accountId, kind: holdKind, amount: usd('1') })
      await ledger.placeHold(request)

      const error = await rejection(ledger.placeHold({ ...request, amount: usd('2') }))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('2'))
    })

    test('a hold of zero needs no money', async () => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)

      const outcome = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: ZERO }))

      expect(outcome.outcome).toBe('held')
    })

    test('a negative hold is refused', async () => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)

      const error = await rejection(ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('-1') })))

      expect(error).toBeInstanceOf(RangeError)
    })

    test('a hold for an account that does not exist is refused', async () => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)

      const error = await rejection(
        ledger.placeHold(aHold({ accountId: accountId + 1, kind: holdKind, amount: ZERO })),
      )

      expect(error).toBeInstanceOf(RangeError)
    })

    test.each([
      ['all of', 4],
      ['part of', 1],
      ['nothing of', 0],
    ])('a capture takes %s its hold and frees the rest', async (_, dollars) => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('5'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('4') })
      const cost = usd(String(dollars))

      const captured = await ledger.captureHold(held, aChargeOf(holdKind, apiKeyId, dollars))

      expect(captured).toEqual({ cost, shortfall: ZERO })
      expect(await ledger.balance(accountId)).toMatchObject({
        available: subtractUsd(usd('5'), cost),
        held: { text: ZERO, media: ZERO },
        spent: { text: ZERO, media: ZERO, [holdKind]: cost },
      })
      expect(await ledger.usage(accountId, { limit: 10 })).toMatchObject([{ id: held.id, cost }])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('of 100 captures of one hold, one charges, and all get the same outcome', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      const capture = () => ledger.captureHold(held, aChargeOf(holdKind, apiKeyId))

      const early = await Promise.all(Array.from({ length: 99 }, capture))
      const late = await capture()

      expect(new Set([...early, late].map(captured => captured.cost))).toEqual(new Set([usd('1')]))
      expect(await available(ledger, accountId)).toBe(usd('2'))
    })

    test('a second capture with another cost is refused and changes nothing', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      await ledger.captureHold(held, aChargeOf(holdKind, apiKeyId))

      const error = await rejection(ledger.captureHold(held, aChargeOf(holdKind, apiKeyId, 2)))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('2'))
    })

    test('a negative cost is refused, and the hold stays', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })

      const error = await rejection(
        ledger.captureHold(held, { ...aChargeOf(holdKind, apiKeyId), cost: usd('-1') }),
      )

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('a charge of the other kind is refused, and the hold stays', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      const charges =
        holdKind === 'media' ? [aCharge(apiKeyId)] : [anImagesCharge(apiKeyId), aVideoCharge(apiKeyId)]

      const errors = await Promise.all(charges.map(charge => rejection(ledger.captureHold(held, charge))))

      for (const error of errors) expect(error).toBeInstanceOf(RangeError)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('1'),
        held: { [holdKind]: usd('2') },
        spent: { text: ZERO, media: ZERO },
      })
    })

    test('of 100 releases of one hold, one frees it', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })

      await Promise.all(Array.from({ length: 100 }, async () => ledger.releaseHold(held, NOW)))

      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('3'),
        held: { text: ZERO, media: ZERO },
      })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a hold that was released cannot be captured', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      await ledger.releaseHold(held, NOW)

      const error = await rejection(ledger.captureHold(held, aChargeOf(holdKind, apiKeyId)))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('3'))
    })

    test('a hold that was never placed cannot be captured, and releasing it changes nothing', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('3'))
      const never = { id: anId(), accountId, kind: holdKind, amount: usd('1') }

      await ledger.releaseHold(never, NOW)
      const error = await rejection(ledger.captureHold(never, aChargeOf(holdKind, apiKeyId)))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('3'))
    })

    test('releasing a hold while its capture waits does not undo the capture', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('3'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })

      const [captured] = await Promise.all([
        ledger.captureHold(held, aChargeOf(holdKind, apiKeyId)),
        ledger.releaseHold(held, NOW),
      ])
      await ledger.releaseHold(held, NOW)

      expect(captured.cost).toBe(usd('1'))
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('2'),
        held: { text: ZERO, media: ZERO },
      })
    })

    test('the money of a hold is never free while it is captured', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('1'))
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('1') })

      const capturing = ledger.captureHold(held, aChargeOf(holdKind, apiKeyId))
      const racing = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('0.1') }))
      await capturing
      const later = await ledger.placeHold(aHold({ accountId, kind: holdKind, amount: usd('0.1') }))

      expect([racing.outcome, later.outcome]).toEqual(['refused', 'refused'])
    })
  })

  describe('text holds alone', () => {
    test('a cost above its hold takes the shortfall from the available balance, below zero if needed', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('2'))
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('1.5') })

      const captured = await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 3 }))

      expect(captured).toEqual({ cost: usd('3'), shortfall: usd('1.5') })
      expect(await available(ledger, accountId)).toBe(usd('-1'))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('an account below zero can only hold zero', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, ZERO)
      await ledger.captureHold(
        await hold(ledger, { accountId, kind: 'text', amount: ZERO }),
        aCharge(apiKeyId),
      )

      const some = await ledger.placeHold(aHold({ accountId, kind: 'text', amount: usd('0.000000001') }))
      const none = await ledger.placeHold(aHold({ accountId, kind: 'text', amount: ZERO }))

      expect(some).toEqual({ outcome: 'refused', available: usd('-1'), held: ZERO, heldText: ZERO })
      expect(none.outcome).toBe('held')
    })
  })

  describe('media holds alone', () => {
    test('a cost above its hold is refused, and the hold stays', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('5'))
      const held = await hold(ledger, { accountId, kind: 'media', amount: usd('1') })

      const error = await rejection(ledger.captureHold(held, anImagesCharge(apiKeyId, 2)))

      expect(error).toBeInstanceOf(RangeError)
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('4'),
        held: { media: usd('1') },
      })
    })

    test('a hold that has ended cannot be placed again', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('5'))
      const request = aHold({ accountId, kind: 'media', amount: usd('1') })
      await ledger.placeHold(request)
      await ledger.releaseHold(request, NOW)

      const error = await rejection(ledger.placeHold(request))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('5'))
    })
  })

  compensationsConform(kind)
  correctionsConform(kind)
  creditsConform(kind)
  dayUsageConforms(kind)
  expiryConforms(kind)
  restartsConform(kind)
  statementConforms(kind)
  twoNodesConform(kind)
  usageConforms(kind)
  usageGroupsConform(kind)
}
