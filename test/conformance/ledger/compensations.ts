import { describe, expect, test } from 'bun:test'
import { formatId } from '../../../src/domain/ids.ts'
import { usd, ZERO, type NanoUsd } from '../../../src/domain/money.ts'
import type { Bill } from '../../../src/gateway/ports/ledger/attempts.ts'
import { aBill, aCharge, anAttempt, hold, NOW, openWithFunds } from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** Attempts that were billed after their client got an error. */
export function compensationsConform(kind: StoreKind): void {
  describe('compensations', () => {
    async function openWithBilled(funds: NanoUsd, bill: Bill = aBill()) {
      const { store, reopen, ...payer } = await openWithFunds(kind, funds)
      const attempt = anAttempt(payer)
      await store.attempts.record(attempt)
      await store.attempts.bill(attempt, bill)
      return { ...store, reopen, ...payer, attempt }
    }

    test('an attempt is charged and credited back in one step: the statement has both, and the balance does not change', async () => {
      const { ledger, attempts, accountId, attempt } = await openWithBilled(usd('5'), aBill({ tokens: 2 }))

      const compensated = await ledger.compensate(attempt, NOW)

      expect(compensated).toEqual({ cost: usd('2'), isFirst: true })
      expect(await ledger.balance(accountId)).toEqual({
        available: usd('5'),
        held: { text: ZERO, media: ZERO },
        spent: { text: usd('2'), media: ZERO },
        credited: usd('7'),
      })
      const ref = formatId('req', attempt.requestId)
      expect(await ledger.statement(accountId, { limit: 10 })).toMatchObject([
        { kind: 'compensation', amount: usd('2'), ref, id: attempt.requestId },
        { kind: 'charge', amount: usd('-2'), ref, id: attempt.requestId },
        { kind: 'top_up' },
      ])
      expect(await attempts.billed(10)).toEqual([])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('the usage of a compensated attempt is in the usage list, at the prices that it was recorded with', async () => {
      const { ledger, accountId, apiKeyId, attempt } = await openWithBilled(usd('5'))

      await ledger.compensate(attempt, NOW + 7)

      expect(await ledger.usage(accountId, { limit: 10 })).toEqual([
        {
          ...aCharge(apiKeyId),
          id: attempt.requestId,
          cursor: expect.any(String),
          accountId,
          refunded: ZERO,
          atMs: NOW + 7,
        },
      ])
    })

    test('the charge of a compensated attempt has the tags and the user of its request, also after a crash', async () => {
      const { store, reopen, ...payer } = await openWithFunds(kind, usd('5'))
      const attribution = { tags: new Map([['team', 'a']]), userId: 'ada-17' }
      const attempt = { ...anAttempt(payer), ...attribution }
      await store.attempts.record(attempt)
      await store.attempts.bill(attempt, aBill())

      const { ledger } = await reopen()
      await ledger.compensate(attempt, NOW)

      expect(await ledger.usage(payer.accountId, { limit: 1 })).toMatchObject([attribution])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('the charge of a compensated attempt has what the provider says that it bills', async () => {
      const bill = { ...aBill(), providerCost: usd('0.7') }
      const { ledger, accountId, attempt } = await openWithBilled(usd('5'), bill)

      await ledger.compensate(attempt, NOW)

      expect(await ledger.usage(accountId, { limit: 1 })).toMatchObject([{ providerCost: usd('0.7') }])
    })

    test.each([true, false])(
      'the charge of a compensated attempt says whether its usage was clamped: %p',
      async isClamped => {
        const { ledger, accountId, attempt } = await openWithBilled(usd('5'), { ...aBill(), isClamped })

        await ledger.compensate(attempt, NOW)

        expect(await ledger.usage(accountId, { limit: 10 })).toMatchObject([{ isClamped }])
      },
    )

    test('a compensated attempt is in the list of losses, with its price and the cost of its provider', async () => {
      const bill = { ...aBill({ tokens: 2 }), providerCost: usd('0.7') }
      const { ledger, accountId, attempt } = await openWithBilled(usd('5'), bill)
      await ledger.compensate(attempt, NOW)

      expect(await ledger.losses({ limit: 10 })).toMatchObject([
        {
          id: attempt.requestId,
          kind: 'text',
          accountId,
          reason: 'compensated',
          loss: usd('2'),
          providerCost: usd('0.7'),
        },
      ])
    })

    test('of 100 compensations of one attempt, one counts, and all get the same outcome', async () => {
      const { ledger, accountId, attempt } = await openWithBilled(usd('5'))
      const compensate = () => ledger.compensate(attempt, NOW)

      const early = await Promise.all(Array.from({ length: 99 }, compensate))
      const late = await compensate()

      expect([...early, late].filter(({ isFirst }) => isFirst)).toHaveLength(1)
      expect(new Set([...early, late].map(({ cost }) => cost))).toEqual(new Set([usd('1')]))
      expect(await ledger.statement(accountId, { limit: 10 })).toHaveLength(3)
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a compensation that a crash interrupted is made once after the restart', async () => {
      const { attempt, accountId, reopen, ledger } = await openWithBilled(usd('5'))
      void ledger.compensate(attempt, NOW).catch(() => undefined)

      const { ledger: reopened } = await reopen()
      await reopened.compensate(attempt, NOW)
      const later = await reopened.compensate(attempt, NOW)

      expect(later.isFirst).toBe(false)
      expect(await reopened.statement(accountId, { limit: 10 })).toHaveLength(3)
      expect(await reopened.verify()).toMatchObject({ problems: [] })
    })

    test('an account without money is compensated too, and its balance stays zero', async () => {
      const { ledger, accountId, attempt } = await openWithBilled(ZERO)

      await ledger.compensate(attempt, NOW)

      expect((await ledger.balance(accountId)).available).toBe(ZERO)
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('other holds of the account stay held', async () => {
      const { ledger, accountId, apiKeyId, attempt } = await openWithBilled(usd('5'))
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('3') })

      await ledger.compensate(attempt, NOW)
      const during = await ledger.balance(accountId)
      await ledger.captureHold(held, aCharge(apiKeyId))

      expect(during).toMatchObject({ available: usd('2'), held: { text: usd('3') } })
      expect((await ledger.balance(accountId)).available).toBe(usd('4'))
    })

    test('a compensation with a cost of zero moves nothing', async () => {
      const { ledger, accountId, attempt } = await openWithBilled(usd('5'), aBill({ tokens: 0 }))

      const compensated = await ledger.compensate(attempt, NOW)

      expect(compensated).toEqual({ cost: ZERO, isFirst: true })
      expect(await ledger.statement(accountId, { limit: 10 })).toHaveLength(1)
      expect(await ledger.usage(accountId, { limit: 10 })).toHaveLength(1)
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test.each(['timed_out', 'closed', 'abandoned', 'never recorded'] as const)(
      'an attempt that is %s is refused and changes nothing',
      async state => {
        const { store, ledger, ...payer } = await openWithFunds(kind, usd('5'))
        const attempt = anAttempt(payer)
        const { usage, providerCost } = aBill()
        if (state === 'abandoned') await store.attempts.record({ ...attempt, state, usage, providerCost })
        else if (state !== 'never recorded') await store.attempts.record(attempt)
        if (state === 'closed') await store.attempts.close(attempt)

        const error = await rejection(ledger.compensate(attempt, NOW))

        expect(error).toBeInstanceOf(RangeError)
        expect(await ledger.statement(payer.accountId, { limit: 10 })).toHaveLength(1)
      },
    )
  })
}
