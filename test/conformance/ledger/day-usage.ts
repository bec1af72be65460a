import { describe, expect, test } from 'bun:test'
import { usd, ZERO } from '../../../src/domain/money.ts'
import { NO_USAGE } from '../../../src/domain/pricing/usage.ts'
import { aBill, aCharge, anAttempt, hold, NOW, openWithFunds } from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

const DAY_MS = 86_400_000
const TODAY = Math.floor(NOW / DAY_MS)

/** What margins are made of: the sums of a day, and the work of a time that no customer paid for. */
export function dayUsageConforms(kind: StoreKind): void {
  describe('the usage of a day', () => {
    test('the usage of a day has the costs of its providers, for each model and provider, also after a restart', async () => {
      const { ledger, reopen, accountId, apiKeyId } = await openWithFunds(kind, usd('100'))
      const charge = async (change: Parameters<typeof aCharge>[1]) => {
        const held = await hold(ledger, { accountId, kind: 'text', amount: usd('9') })
        await ledger.captureHold(held, aCharge(apiKeyId, change))
      }
      await charge({ tokens: 2, providerCost: usd('0.5') })
      await charge({ tokens: 3, providerCost: usd('0.000000001') })
      await charge({ tokens: 1 })
      await charge({ tokens: 1, provider: 'spare', providerCost: ZERO })
      await charge({ tokens: 1, atMs: NOW - DAY_MS })

      const again = (await reopen()).ledger

      const common = { accountId, apiKeyId, model: 'gpt-x', compensated: ZERO }
      const expected = [
        {
          ...common,
          provider: 'main',
          charges: 3,
          cost: usd('6'),
          providerCost: usd('0.500000001'),
          chargesWithoutCost: 1,
        },
        {
          ...common,
          provider: 'spare',
          charges: 1,
          cost: usd('1'),
          providerCost: ZERO,
          chargesWithoutCost: 0,
        },
      ]
      expect((await again.usageOfDay(TODAY)).toSorted((a, b) => (a.provider < b.provider ? -1 : 1))).toEqual(
        expected,
      )
      expect(await again.usageOfDay(TODAY + 1)).toEqual([])
      expect(await again.verify()).toMatchObject({ problems: [] })
    })

    test('the usage of a day has a charge that was credited back, with the cost of its provider', async () => {
      const { ledger, store, ...payer } = await openWithFunds(kind, usd('5'))
      const attempt = anAttempt(payer)
      await store.attempts.record(attempt)
      await store.attempts.bill(attempt, { ...aBill(), providerCost: usd('0.7') })

      await ledger.compensate(attempt, NOW)

      expect(await ledger.usageOfDay(TODAY)).toMatchObject([
        { charges: 1, cost: usd('1'), compensated: usd('1'), providerCost: usd('0.7') },
      ])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })
  })

  describe('the losses of a time', () => {
    test('the losses of a time have its start and not its end, in pages', async () => {
      const { ledger, store, ...payer } = await openWithFunds(kind, usd('5'))
      const abandon = async (atMs: number, tokens: number) => {
        const { state: _, ...attempt } = anAttempt({ ...payer, atMs })
        const usage = { ...NO_USAGE, input: tokens }
        await store.attempts.record({ ...attempt, state: 'abandoned', usage, providerCost: null })
      }
      for (const [atMs, tokens] of [
        [NOW - 1, 1],
        [NOW, 2],
        [NOW, 3],
        [NOW + 5, 4],
        [NOW + 9, 5],
      ] as const)
        await abandon(atMs, tokens)
      const between = { fromMs: NOW, toMs: NOW + 9 }

      const all = await ledger.losses({ limit: 10, between })
      const first = await ledger.losses({ limit: 2, between })
      const second = await ledger.losses({ limit: 2, between, before: first.at(-1)!.cursor })

      expect(all.map(({ loss }) => loss)).toEqual([usd('4'), usd('3'), usd('2')])
      expect([...first, ...second]).toEqual([...all])
      expect(all[0]).toMatchObject({ accountId: payer.accountId, apiKeyId: payer.apiKeyId })
    })
  })
}
