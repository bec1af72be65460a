import { describe, expect, test } from 'bun:test'
import { CREDITED_MAX } from '../../../src/domain/ledger/credit.ts'
import { usd, ZERO } from '../../../src/domain/money.ts'
import { aCredit, anAccount, anAudit, anId, available, openWithFunds } from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** Credits to an account. */
export function creditsConform(kind: StoreKind): void {
  describe('credits', () => {
    test.each([
      ['cash', 'top_up'],
      ['promotions', 'grant'],
    ] as const)('money from %s can be spent at once, and is in the statement as %s', async (source, name) => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)

      const credit = await ledger.credit({
        ...aCredit(accountId),
        amount: usd('2'),
        source,
        note: 'welcome',
      })

      expect(credit).toMatchObject({ amount: usd('2'), available: usd('2') })
      expect(await ledger.balance(accountId)).toMatchObject({ available: usd('2'), credited: usd('2') })
      expect(await ledger.statement(accountId, { limit: 10 })).toMatchObject([
        { id: credit.id, kind: name, amount: usd('2'), note: 'welcome', ref: '' },
      ])
    })

    test('a credit with the id of an earlier one returns the earlier one', async () => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)
      const request = { ...aCredit(accountId), amount: usd('1') }
      const first = await ledger.credit(request)
      await ledger.credit({ ...aCredit(accountId), amount: usd('5') })

      const second = await ledger.credit(request)

      expect(second).toEqual(first)
      expect(await available(ledger, accountId)).toBe(usd('6'))
    })

    test('of 100 credits with one idempotency key, one counts, and all get the same outcome', async () => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)
      const redeem = () =>
        ledger.credit({ ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' })

      const credits = await Promise.all(Array.from({ length: 100 }, redeem))

      expect(new Set(credits.map(credit => credit.id.key)).size).toBe(1)
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('an idempotency key belongs to one account', async () => {
      const { ledger, store, accountId } = await openWithFunds(kind, ZERO)
      const other = await anAccount(store)
      await ledger.credit({ ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' })

      await ledger.credit({ ...aCredit(other.accountId), amount: usd('2'), idempotencyKey: 'code-1' })

      expect(await available(ledger, other.accountId)).toBe(usd('2'))
    })

    test.each([
      ['amount', { amount: usd('2') }],
      ['source', { source: 'promotions' }],
    ] as const)('an idempotency key with another %s is refused and moves nothing', async (_, change) => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)
      const request = { ...aCredit(accountId), amount: usd('1'), idempotencyKey: 'code-1' }
      await ledger.credit(request)

      const error = await rejection(ledger.credit({ ...request, ...change, id: anId() }))

      expect(error).toMatchObject({ code: 'idempotency_key_reuse' })
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('an id with another amount is refused and moves nothing', async () => {
      const { ledger, accountId } = await openWithFunds(kind, ZERO)
      const request = { ...aCredit(accountId), amount: usd('1') }
      await ledger.credit(request)

      const error = await rejection(ledger.credit({ ...request, amount: usd('2') }))

      expect(error).toBeInstanceOf(RangeError)
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('more than the books can represent is refused and moves nothing', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('1'))

      const error = await rejection(ledger.credit({ ...aCredit(accountId), amount: CREDITED_MAX }))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'amount_usd' } })
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('each credit is in the audit log once, however often it is repeated', async () => {
      const { ledger, store, accountId } = await openWithFunds(kind, ZERO)
      const audit = anAudit({ action: 'account.grant', subject: 'acct_1', detail: '1 USD' })
      const request = { ...aCredit(accountId), amount: usd('1'), audit }
      await ledger.credit(request)
      await ledger.credit(request)

      const lines = await store.auditLog.list({ limit: 10 })

      expect(lines.filter(line => line.action === 'account.grant')).toMatchObject([audit])
    })
  })
}
