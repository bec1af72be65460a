import { describe, expect, test } from 'bun:test'
import { anAttempt, aBill, openWithFunds, NOW } from '../support/ledger-builders.ts'
import { usd } from '../../src/domain/money.ts'
import { NO_USAGE } from '../../src/domain/pricing/usage.ts'
import type { StoreKind } from '../support/test-store.ts'

/** What the attempts of any store must do, except compensations (`ledger/compensations.ts`). */
export function attemptsConform(kind: StoreKind): void {
  describe('attempts', () => {
    async function open() {
      const { store, reopen, ...payer } = await openWithFunds(kind, usd('5'))
      return { attempts: store.attempts, reopen, payer, ledger: store.ledger }
    }

    test('an attempt that timed out and then finished has to be settled, also after a crash', async () => {
      const { attempts, reopen, payer } = await open()
      const timedOut = anAttempt(payer)
      await attempts.record(timedOut)

      const isBilled = await attempts.bill(timedOut, aBill())
      const { requestId, number } = timedOut

      expect(isBilled).toBe(true)
      expect(await (await reopen()).attempts.billed(10)).toEqual([{ requestId, number }])
    })

    test('an attempt without a result does not have to be settled', async () => {
      const { attempts, payer } = await open()
      await attempts.record(anAttempt(payer))

      expect(await attempts.billed(10)).toEqual([])
    })

    test.each([
      ['its price, if its usage is known', { ...NO_USAGE, input: 3 }, '3'],
      ['no price, if its usage is not known', null, '0'],
    ])('an abandoned attempt is in the list of losses with %s', async (_, usage, loss) => {
      const { attempts, ledger, payer } = await open()
      const abandoned = { ...anAttempt(payer), state: 'abandoned' as const, usage, providerCost: null }
      await attempts.record(abandoned)

      expect(await ledger.losses({ limit: 10 })).toMatchObject([
        {
          id: abandoned.requestId,
          kind: 'text',
          reason: 'abandoned',
          loss: usd(loss),
          providerCost: null,
        },
      ])
    })

    test('recording an attempt again changes nothing', async () => {
      const { attempts, payer } = await open()
      const timedOut = anAttempt(payer)
      await attempts.record(timedOut)
      await attempts.bill(timedOut, aBill())

      await attempts.record(timedOut)

      expect(await attempts.billed(10)).toHaveLength(1)
    })

    test('of 100 bills for one attempt, one counts', async () => {
      const { attempts, payer } = await open()
      const timedOut = anAttempt(payer)
      await attempts.record(timedOut)

      const billed = await Promise.all(Array.from({ length: 100 }, () => attempts.bill(timedOut, aBill())))

      expect(billed.filter(isFirst => isFirst)).toHaveLength(1)
    })

    test('a closed attempt is not billed, and a billed one is not closed', async () => {
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

    test('an attempt that was never recorded is neither billed nor closed', async () => {
      const { attempts, payer } = await open()
      const never = anAttempt(payer)

      expect([await attempts.bill(never, aBill()), await attempts.close(never)]).toEqual([false, false])
    })

    test('an abandoned attempt keeps its usage and is never settled', async () => {
      const { attempts, payer, ledger } = await open()
      const { usage } = aBill()
      const abandoned = { ...anAttempt(payer), state: 'abandoned', usage, providerCost: usd('0.5') } as const
      await attempts.record(abandoned)

      const outcomes = [await attempts.bill(abandoned, aBill()), await attempts.close(abandoned)]

      expect(outcomes).toEqual([false, false])
      expect(await attempts.billed(10)).toEqual([])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('an abandoned attempt may have an unknown usage', async () => {
      const { attempts, payer, ledger } = await open()
      await attempts.record({ ...anAttempt(payer), state: 'abandoned', usage: null, providerCost: null })

      expect(await attempts.billed(10)).toEqual([])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('attempts that timed out before an instant are closed oldest first, up to a limit', async () => {
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

    test('at most the requested number of billed attempts is returned', async () => {
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
