import { describe, expect, test } from 'bun:test'
import { usd, ZERO } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import { aJob, jobIn, aResult, COST, HELD } from '../support/job-builders.ts'
import {
  aBill,
  aCharge,
  aCredit,
  anAttempt,
  anAudit,
  anId,
  hold,
  NOW,
  openWithFunds,
} from '../support/ledger-builders.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the booked items of any store must have. */
export function bookedItemsConform(kind: StoreKind): void {
  describe('booked items', () => {
    async function open() {
      const { store, ...payer } = await openWithFunds(kind, usd('100'))
      return { store, payer, ...store }
    }

    test('a request that was refused is not in the books', async () => {
      const { bookedItems } = await open()

      expect(await bookedItems.find(anId())).toBeUndefined()
    })

    test('a booked request has its charge, its shortfall and its refunds in their order', async () => {
      const { ledger, bookedItems, payer } = await open()
      const { accountId, apiKeyId } = payer
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('3') })
      await ledger.captureHold(held, aCharge(apiKeyId, { tokens: 5 }))
      const first = { id: anId(), amount: usd('1'), note: 'too slow', idempotencyKey: 'a', audit: anAudit() }
      const second = { id: anId(), amount: usd('2'), idempotencyKey: 'b', audit: anAudit({ atMs: NOW + 1 }) }
      await ledger.refund({ ...first, charge: held.id })
      await ledger.refund({ ...second, charge: held.id })

      const booked = await bookedItems.find(held.id)

      expect(booked).toMatchObject({
        kind: 'request',
        id: held.id,
        accountId,
        job: undefined,
        charge: {
          kind: 'text',
          cost: usd('5'),
          shortfall: usd('2'),
          refunded: usd('3'),
          usage: { ...NO_USAGE, input: 5 },
          refunds: [
            { id: first.id, amount: usd('1'), note: 'too slow', atMs: NOW },
            { id: second.id, amount: usd('2'), note: null, atMs: NOW + 1 },
          ],
        },
        attempts: [],
      })
      expect(await bookedItems.find(second.id)).toEqual(booked)
    })

    test('a booked request with a late answer has the attempt, and the charge that was given back', async () => {
      const { attempts, ledger, bookedItems, payer } = await open()
      const timedOut = anAttempt(payer)
      const abandoned = {
        ...timedOut,
        number: 2,
        state: 'abandoned' as const,
        usage: null,
        providerCost: ZERO,
      }
      await attempts.record(timedOut)
      await attempts.record({ ...abandoned, provider: 'backup' })
      await attempts.bill(timedOut, aBill({ tokens: 4 }))
      await ledger.compensate(timedOut, NOW)

      expect(await bookedItems.find(timedOut.requestId)).toMatchObject({
        charge: { cost: usd('4'), refunds: [] },
        attempts: [
          { number: 1, provider: 'main', state: 'compensated', cost: usd('4'), usage: { input: 4 } },
          { number: 2, provider: 'backup', state: 'abandoned', usage: null, cost: null, providerCost: ZERO },
        ],
      })
    })

    test('a job is found by its id and by that of its request, with its hold and its charge', async () => {
      const { jobs, bookedItems, payer } = await open()
      const requestId = anId()
      const job = aJob(payer, { id: anId(), requestId })
      await jobIn('processing', jobs, job)
      const running = await bookedItems.find(job.id)
      await jobs.complete(job.id, aResult())

      expect(running).toMatchObject({
        job: job.id,
        charge: undefined,
        hold: { kind: 'media', amount: HELD, state: 'open', endedAtMs: null },
      })
      const ended = await bookedItems.find(requestId)
      expect(ended).toMatchObject({
        id: job.id,
        charge: { kind: 'images', cost: COST },
        hold: { state: 'captured', placedAtMs: NOW, endedAtMs: NOW + 5000 },
      })
      expect(await bookedItems.find(job.id)).toEqual(ended)
    })

    test('a credit and a debit are found by their own ids', async () => {
      const { ledger, bookedItems, payer } = await open()
      const { accountId } = payer
      const credit = { ...aCredit(accountId), amount: usd('2'), note: 'invoice 7' }
      const debit = { id: anId(), accountId, amount: usd('1'), allowNegative: false, audit: anAudit() }
      await ledger.credit(credit)
      await ledger.debit(debit)

      const found = { accountId, atMs: NOW }
      expect(await bookedItems.find(credit.id)).toEqual({
        ...found,
        kind: 'top_up',
        id: credit.id,
        amount: usd('2'),
        note: 'invoice 7',
      })
      expect(await bookedItems.find(debit.id)).toEqual({
        ...found,
        kind: 'debit',
        id: debit.id,
        amount: usd('1'),
        note: null,
      })
    })
  })
}
