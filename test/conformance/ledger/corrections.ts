import { describe, expect, test } from 'bun:test'
import { formatId, type Id } from '../../../src/domain/ids.ts'
import { usd, ZERO } from '../../../src/domain/money.ts'
import {
  aBill,
  aCharge,
  aChargeOf,
  anAccount,
  anAttempt,
  anAudit,
  anId,
  available,
  hold,
  NOW,
  openWithFunds,
} from '../../support/ledger-builders.ts'
import { rejection } from '../../support/rejection.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** Corrections by the operator. */
export function correctionsConform(kind: StoreKind): void {
  const aDebit = (accountId: number) => ({
    id: anId(),
    accountId,
    amount: usd('2'),
    allowNegative: false,
    audit: anAudit({ action: 'account.debit' }),
  })

  describe('a debit', () => {
    test('a debit takes money that was paid in, and is in the statement', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('5'))

      const debit = await ledger.debit({ ...aDebit(accountId), note: 'paid twice', idempotencyKey: 'fix-1' })

      expect(debit).toMatchObject({ amount: usd('2'), available: usd('3') })
      expect(await ledger.balance(accountId)).toMatchObject({ available: usd('3'), credited: usd('3') })
      expect(await ledger.statement(accountId, { limit: 1 })).toMatchObject([
        { id: debit.id, kind: 'debit', amount: usd('-2'), note: 'paid twice', ref: 'fix-1' },
      ])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a debit of more than the account can spend is refused, unless it may go below zero', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('5'))
      await hold(ledger, { accountId, kind: 'text', amount: usd('4') })

      const error = await rejection(ledger.debit(aDebit(accountId)))
      const debit = await ledger.debit({ ...aDebit(accountId), allowNegative: true })

      expect(error).toMatchObject({ code: 'insufficient_balance' })
      expect(debit.available).toBe(usd('-1'))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a debit with a repeated id or idempotency key counts once, and leaves one audit line', async () => {
      const { ledger, store, accountId } = await openWithFunds(kind, usd('9'))
      const request = { ...aDebit(accountId), idempotencyKey: 'fix-1' }
      const repeats = [request, request, { ...request, id: anId() }]

      const debits = await Promise.all(repeats.map(repeat => ledger.debit(repeat)))

      expect(new Set(debits.map(({ id }) => id.key)).size).toBe(1)
      expect(await available(ledger, accountId)).toBe(usd('7'))
      const lines = await store.auditLog.list({ limit: 50 })
      expect(lines.filter(({ action }) => action === 'account.debit')).toHaveLength(1)
    })

    test('a debit with the idempotency key of another amount is refused', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('9'))
      await ledger.debit({ ...aDebit(accountId), idempotencyKey: 'fix-1' })

      const error = await rejection(
        ledger.debit({ ...aDebit(accountId), amount: usd('1'), idempotencyKey: 'fix-1' }),
      )

      expect(error).toMatchObject({ code: 'idempotency_key_reuse' })
      expect(await available(ledger, accountId)).toBe(usd('7'))
    })
  })

  describe.each(['text', 'media'] as const)('a refund of a %s charge', holdKind => {
    async function setUpCharged() {
      const opened = await openWithFunds(kind, usd('5'))
      const { ledger, accountId, apiKeyId } = opened
      const held = await hold(ledger, { accountId, kind: holdKind, amount: usd('3') })
      await ledger.captureHold(held, aChargeOf(holdKind, apiKeyId, 2))
      const refund = (amount: string, change = {}) =>
        ledger.refund({
          id: anId(),
          charge: held.id,
          amount: usd(amount),
          audit: anAudit({ action: 'charge.refund' }),
          ...change,
        })
      return { ...opened, charge: held.id, refund }
    }

    test('a refund of a charge gives the money back, lowers what was spent, and is in the statement', async () => {
      const { ledger, accountId, charge, refund } = await setUpCharged()

      const refunded = await refund('1.5', { note: 'bad answer', idempotencyKey: 'fix-1' })

      expect(refunded).toMatchObject({ amount: usd('1.5'), available: usd('4.5') })
      expect(await ledger.balance(accountId)).toMatchObject({
        available: usd('4.5'),
        spent: { text: ZERO, media: ZERO, [holdKind]: usd('0.5') },
        credited: usd('5'),
      })
      expect(await ledger.statement(accountId, { limit: 1 })).toMatchObject([
        {
          id: refunded.id,
          kind: 'refund',
          amount: usd('1.5'),
          note: 'bad answer',
          ref: formatId('req', charge),
        },
      ])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a refund of a charge of the whole charge is made once', async () => {
      const { ledger, accountId, refund } = await setUpCharged()
      await refund('2')

      const error = await rejection(refund('2', { idempotencyKey: 'fix-1' }))

      expect(error).toMatchObject({ code: 'already_exists', extras: { extensions: { refundable_usd: '0' } } })
      expect(await available(ledger, accountId)).toBe(usd('5'))
    })

    test('a refund of a charge of a part is made as often as the cost allows, each with its own key', async () => {
      const { ledger, accountId, refund } = await setUpCharged()
      await refund('0.5', { idempotencyKey: 'fix-1' })
      await refund('0.5', { idempotencyKey: 'fix-2' })

      const tooMuch = await rejection(refund('1.000000001', { idempotencyKey: 'fix-3' }))
      const whole = await rejection(refund('2'))
      const last = await refund('1', { idempotencyKey: 'fix-3' })

      const left = { code: 'already_exists', extras: { extensions: { refundable_usd: '1' } } }
      expect([tooMuch, whole]).toMatchObject([left, left])
      expect(last.available).toBe(usd('5'))
      expect((await ledger.balance(accountId)).spent).toEqual({ text: ZERO, media: ZERO })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('a refund of a charge of a part without an idempotency key is refused and moves nothing', async () => {
      const { ledger, accountId, refund } = await setUpCharged()

      const error = await rejection(refund('0.5'))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'Idempotency-Key' } })
      expect(await available(ledger, accountId)).toBe(usd('3'))
    })

    test('a refund of a charge loses the race for what is left of the charge to another one', async () => {
      const { ledger, accountId, refund } = await setUpCharged()

      const outcomes = await Promise.allSettled([
        refund('1.5', { idempotencyKey: 'fix-1' }),
        refund('1.5', { idempotencyKey: 'fix-2' }),
      ])

      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await available(ledger, accountId)).toBe(usd('4.5'))
    })

    test('a refund of a charge with the key of another amount, another charge or a debit is refused', async () => {
      const { ledger, accountId, apiKeyId, refund } = await setUpCharged()
      const other = await hold(ledger, { accountId, kind: holdKind, amount: usd('2') })
      await ledger.captureHold(other, aChargeOf(holdKind, apiKeyId, 2))
      await refund('1', { idempotencyKey: 'fix-1' })
      await ledger.debit({ ...aDebit(accountId), amount: usd('1'), idempotencyKey: 'debit-1' })

      const errors = await Promise.all([
        rejection(refund('0.5', { idempotencyKey: 'fix-1' })),
        rejection(refund('1', { idempotencyKey: 'fix-1', charge: other.id })),
        rejection(refund('1', { idempotencyKey: 'debit-1' })),
      ])

      expect(errors).toMatchObject(errors.map(() => ({ code: 'idempotency_key_reuse' })))
      expect(await available(ledger, accountId)).toBe(usd('1'))
    })

    test('a refund of a charge of 100 at once with one idempotency key counts once', async () => {
      const { ledger, accountId, refund } = await setUpCharged()

      const refunds = await Promise.all(
        Array.from({ length: 100 }, () => refund('2', { idempotencyKey: 'fix-1' })),
      )

      expect(new Set(refunds.map(({ id }) => id.key)).size).toBe(1)
      expect(await available(ledger, accountId)).toBe(usd('5'))
    })

    test('a refund of a charge of more than the cost is refused and moves nothing', async () => {
      const { ledger, accountId, refund } = await setUpCharged()

      const error = await rejection(refund('2.000000001', { idempotencyKey: 'fix-1' }))

      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'amount_usd' } })
      expect(await available(ledger, accountId)).toBe(usd('3'))
    })

    test('a refund of a charge finds its charge by its id', async () => {
      const { ledger, charge, accountId } = await setUpCharged()

      const found = await ledger.findCharge(charge)

      expect(found).toMatchObject({ id: charge, accountId, cost: usd('2') })
      expect(await ledger.findCharge(anId())).toBeUndefined()
    })
  })

  describe('the list of refunds', () => {
    /**
     * Two accounts with a charge of 2 USD each, and three refunds, `everyMs`: of the first, the second, and the first
     * again.
     */
    async function setUpRefunded({ everyMs = 1000 } = {}) {
      const opened = await openWithFunds(kind, usd('5'))
      const { store, ledger } = opened
      const payers = [opened, await anAccount(store, { funds: usd('5') })]
      const charges: Id[] = []
      for (const { accountId, apiKeyId } of payers) {
        const held = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
        await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 2 }))
        charges.push(held.id)
      }
      const refunds: Id[] = []
      for (const [index, charge] of [charges[0]!, charges[1]!, charges[0]!].entries()) {
        const id = anId()
        const amount = usd(`0.${index + 1}`)
        const audit = anAudit({ atMs: NOW + everyMs * index })
        await ledger.refund({ id, charge, amount, note: `${index}`, idempotencyKey: `fix-${index}`, audit })
        refunds.unshift(id)
      }
      return { ...opened, charges, refunds }
    }

    const idsOf = (lines: readonly { readonly id: Id }[]) => lines.map(({ id }) => id.key)

    test('the list of refunds has the refunds of one account or of all, newest first, with their charges', async () => {
      const { ledger, accountId, apiKeyId, charges, refunds } = await setUpRefunded()

      const all = await ledger.refunds(undefined, { limit: 10 })
      const own = await ledger.refunds(accountId, { limit: 10 })

      expect(idsOf(all)).toEqual(refunds.map(({ key }) => key))
      expect(idsOf(own)).toEqual([refunds[0]!.key, refunds[2]!.key])
      expect(own[0]).toEqual({
        id: refunds[0]!,
        accountId,
        cursor: expect.any(String),
        amount: usd('0.3'),
        note: '2',
        atMs: NOW + 2000,
        charge: { id: charges[0]!, kind: 'text', route: 'chat', model: 'gpt-x', provider: 'main', apiKeyId },
      })
    })

    test.each([
      ['', 1000],
      [', also if all were made in the same millisecond', 0],
    ])('the list of refunds can be read page by page%s', async (_, everyMs) => {
      const { ledger, refunds } = await setUpRefunded({ everyMs })

      const [first] = await ledger.refunds(undefined, { limit: 1 })
      const rest = await ledger.refunds(undefined, { limit: 5, before: first!.cursor })
      const error = await rejection(ledger.refunds(undefined, { limit: 5, before: 'r1' }))

      expect(idsOf([first!, ...rest])).toEqual(refunds.map(({ key }) => key))
      expect(error).toMatchObject({ code: 'invalid_field', extras: { param: 'cursor' } })
    })

    test('the list of refunds of a time has those that were made from its start on and before its end', async () => {
      const { ledger, accountId, refunds } = await setUpRefunded()
      const between = { fromMs: NOW + 1000, toMs: NOW + 2000 }

      expect(idsOf(await ledger.refunds(undefined, { limit: 9, between }))).toEqual([refunds[1]!.key])
      expect(await ledger.refunds(accountId, { limit: 9, between })).toEqual([])
      expect(await ledger.usageTotals(accountId, between)).toMatchObject({ refunded: ZERO })
      expect(await ledger.usageTotals(accountId, { ...between, toMs: NOW + 2001 })).toMatchObject({
        charges: 0,
        refunded: usd('0.3'),
      })
    })

    test('the list of refunds adds up for each charge', async () => {
      const { ledger, charges } = await setUpRefunded()

      const lines = await ledger.usage(undefined, { limit: 10 })

      expect(lines).toMatchObject([
        { id: charges[1]!, cost: usd('2'), refunded: usd('0.2') },
        { id: charges[0]!, cost: usd('2'), refunded: usd('0.4') },
      ])
    })
  })

  test('a compensated charge cannot be refunded', async () => {
    const { ledger, store, accountId, apiKeyId } = await openWithFunds(kind, usd('5'))
    const attempt = anAttempt({ accountId, apiKeyId })
    await store.attempts.record(attempt)
    await store.attempts.bill(attempt, aBill())
    await ledger.compensate(attempt, NOW)

    const error = await rejection(
      ledger.refund({ id: anId(), charge: attempt.requestId, amount: usd('1'), audit: anAudit() }),
    )

    expect(error).toMatchObject({ code: 'already_exists' })
    expect(await available(ledger, accountId)).toBe(usd('5'))
  })

  test('an id that no charge has cannot be refunded', async () => {
    const { ledger } = await openWithFunds(kind, usd('5'))

    const error = await rejection(
      ledger.refund({ id: anId(), charge: anId(), amount: usd('1'), audit: anAudit() }),
    )

    expect(error).toBeInstanceOf(RangeError)
  })
}
