import { describe, expect, test } from 'bun:test'
import { subtractUsd, usd, ZERO } from '../../../src/domain/money.ts'
import {
  aCharge,
  aCredit,
  anId,
  anImagesCharge,
  available,
  hold,
  NOW,
  openWithFunds,
} from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** What survives the process. */
export function restartsConform(kind: StoreKind): void {
  describe('a new process', () => {
    test('a new process has every charge and credit that was answered, and gives repeats the same outcome', async () => {
      const { store, reopen, accountId, apiKeyId } = await openWithFunds(kind, usd('5'))
      const held = await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })
      const credit = { ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' }
      const first = await store.ledger.credit(credit)
      await store.ledger.captureHold(held, aCharge(apiKeyId, { tokens: 3 }))

      const { ledger } = await reopen()

      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('3'),
        spent: { text: usd('3') },
      })
      expect(await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 3 }))).toEqual({
        cost: usd('3'),
        shortfall: usd('1'),
      })
      expect(await ledger.credit({ ...credit, id: anId() })).toEqual(first)
      expect(await available(ledger, accountId)).toBe(usd('3'))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a new process has every media hold, and can end it', async () => {
      const { store, reopen, accountId, apiKeyId } = await openWithFunds(kind, usd('5'))
      const captured = await hold(store.ledger, { accountId, kind: 'media', amount: usd('2') })
      const released = await hold(store.ledger, { accountId, kind: 'media', amount: usd('1') })

      const { ledger } = await reopen()
      const before = await ledger.balance(accountId)
      await ledger.captureHold(captured, anImagesCharge(apiKeyId))
      await ledger.releaseHold(released, NOW)

      expect(before).toMatchObject({ available: usd('2'), held: { media: usd('3') } })
      expect(await ledger.balance(accountId)).toMatchObject({ available: usd('4'), held: { media: ZERO } })
    })

    test(`a new process has ${kind.textHolds === 'volatile' ? 'no' : 'every'} text hold of the one before`, async () => {
      const { store, reopen, accountId } = await openWithFunds(kind, usd('5'))
      await hold(store.ledger, { accountId, kind: 'text', amount: usd('2') })

      const { ledger } = await reopen()

      const held = kind.textHolds === 'volatile' ? ZERO : usd('2')
      expect(await ledger.balance(accountId)).toMatchObject({
        available: subtractUsd(usd('5'), held),
        held: { text: held },
      })
    })
  })
}
