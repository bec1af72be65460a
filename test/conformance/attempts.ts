import { describe, expect, test } from 'bun:test'
import { anAttempt, aBill, openWithFunds, NOW } from '../support/ledger-builders.ts'
import { usd } from '../../src/domain/money.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What any store of attempts must do; what becomes of one that is compensated is in `ledger/compensations.ts`. */
export function attemptsConform(kind: StoreKind): void {
  describe('attempts', () => {
    async function open() {
      const { store, reopen, ...payer } = await openWithFunds(kind, usd('5'))
      return { attempts: store.attempts, reopen, payer, ledger: store.ledger }
    }

    test('one that timed out and then finished is to be settled, also after a crash', async () => {
      const { attempts, reopen, payer } = await open()
      const timedOut = anAttempt(payer)
      await attempts.record(timedOut)

      const isBilled = await attempts.bill(timedOut, aBill())
      const { requestId, number } = timedOut

      expect(isBilled).toBe(true)
      expect(await (await reopen()).attempts.billed(10)).toEqual([{ requestId, number }])
    })

    test('one that nobody heard of again is not to be settled', async () => {
      const { attempts, payer } = await open()
      await attempts.record(anAttempt(payer))

      expect(await attempts.billed(10)).toEqual([])
    })

    test('recording one again changes nothing', async () => {
      const { attempts, payer } = await open()
      const timedOut = anAttempt(payer)
      await attempts.record(timedOut)
      await attempts.bill(timedOut, aBill())

      await attempts.record(timedOut)

      expect(await attempts.billed(10)).toHaveLength(1)
    })

    test('of 100 answers to one, one counts', async () => {
      const { attempts, payer } = await open()
      const timedOut = anAttempt(payer)
      await attempts.record(timedOut)

      const billed = await Promise.all(Array.from({ length: 100 }, () => attempts.bill(timedOut, aBill())))

      expect(billed.filter(isFirst => isFirst)).toHaveLength(1)
    })

    test('one that is closed is not billed, and one that is billed is not closed', async () => {
      const { attempts, payer } = await open()
      const [closed, billed] = [anAttempt(payer), anAttempt(payer)]
      await attempts.record(closed)
      await attempts.record(billed)

      const outcomes = [
        await attempts.close(closed),
        await attempts.bill(closed, aBill()),
        await attempts.bill(billed, aBill()),
        await attempts.close(billed),
      ]

      expect(outcomes).toEqual([true, false, true, false])
      expect(await attempts.billed(10)).toMatchObject([{ requestId: billed.requestId }])
    })

    test('one that was never recorded is neither billed nor closed', async () => {
      const { attempts, payer } = await open()
      const never = anAttempt(payer)

      expect([await attempts.bill(never, aBill()), await attempts.close(never)]).toEqual([false, false])
    })

    test('one that was abandoned keeps its usage and is never settled', async () => {
      const { attempts, payer, ledger } = await open()
      const { usage } = aBill()
      const abandoned = { ...anAttempt(payer), state: 'abandoned', usage } as const
      await attempts.record(abandoned)

      const outcomes = [await attempts.bill(abandoned, aBill()), await attempts.close(abandoned)]

      expect(outcomes).toEqual([false, false])
      expect(await attempts.billed(10)).toEqual([])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('those that timed out before an instant are closed together, the oldest first, so many at a time', async () => {
      const { attempts, payer } = await open()
      const [oldest, older, young] = [1, 2, 3].map(age => anAttempt({ ...payer, atMs: NOW + age }))
      for (const attempt of [young!, older!, oldest!]) await attempts.record(attempt)

      const closed = [
        await attempts.closeOlder({ atMs: NOW + 3, limit: 1 }),
        await attempts.bill(oldest!, aBill()),
        await attempts.closeOlder({ atMs: NOW + 3, limit: 10 }),
        await attempts.closeOlder({ atMs: NOW + 3, limit: 10 }),
        await attempts.bill(older!, aBill()),
        await attempts.bill(young!, aBill()),
      ]

      expect(closed).toEqual([1, false, 1, 0, false, true])
    })

    test('no more are given to settle than were asked for', async () => {
      const { attempts, payer } = await open()
      for (let made = 0; made < 3; made += 1) {
        const timedOut = anAttempt(payer)
        await attempts.record(timedOut)
        await attempts.bill(timedOut, aBill())
      }

      expect(await attempts.billed(2)).toHaveLength(2)
    })
  })
}
