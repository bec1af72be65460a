import { describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/domain/ids.ts'
import { subtractUsd, usd, ZERO } from '../../../src/domain/money.ts'
import { NO_USAGE } from '../../../src/domain/pricing/usage.ts'
import type { Charge, Ledger } from '../../../src/gateway/ports/ledger.ts'
import {
  aCharge,
  anAccount,
  anImagesCharge,
  aVideoCharge,
  hold,
  NOW,
  openWithFunds,
} from '../../support/ledger-builders.ts'
import type { StoreKind } from '../../support/test-store.ts'

/** The charges. */
export function usageConforms(kind: StoreKind): void {
  describe('usage', () => {
    test('has each charge as it was made, with its frozen tariff', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('100'))
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
      const charge: Charge = {
        kind: 'text',
        cost: usd('0.000092'),
        route: 'chat',
        apiKeyId,
        model: 'gpt-x',
        provider: 'main',
        usage: { ...NO_USAGE, input: 10, cachedInput: 20, output: 30, reasoning: 4 },
        provenance: 'estimated',
        isClamped: true,
        tariff: { input: usd('1'), output: usd('2'), cachedInput: usd('0.5'), perRequest: usd('0.000004') },
        atMs: NOW,
      }
      await ledger.captureHold(held, charge)

      const lines = await ledger.usage(accountId, { limit: 10 })

      expect(lines).toEqual([{ ...charge, id: held.id, cursor: expect.any(String), accountId }])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test.each([
      ['images', (apiKeyId: number) => anImagesCharge(apiKeyId, 3)],
      ['a clip', (apiKeyId: number) => aVideoCharge(apiKeyId, 4250)],
    ])('has a charge for %s as it was made, and takes it out of the hold', async (_, chargeOf) => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('10'))
      const held = await hold(ledger, { accountId, kind: 'media', amount: usd('5') })
      const charge = chargeOf(apiKeyId)
      await ledger.captureHold(held, charge)

      const lines = await ledger.usage(accountId, { limit: 10 })

      expect(lines).toEqual([{ ...charge, id: held.id, cursor: expect.any(String), accountId }])
      expect((await ledger.balance(accountId)).available).toBe(subtractUsd(usd('10'), charge.cost))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('has free requests and those at the upstream’s own cost, which have no tariff', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('1'))
      const free = await hold(ledger, { accountId, kind: 'text', amount: ZERO })
      await ledger.captureHold(free, aCharge(apiKeyId, { tariff: null, tokens: 7 }))
      const passedOn = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
      await ledger.captureHold(passedOn, aCharge(apiKeyId, { tariff: null, cost: usd('0.3') }))

      const lines = await ledger.usage(accountId, { limit: 10 })

      expect(lines).toMatchObject([
        { id: passedOn.id, cost: usd('0.3'), tariff: null },
        { id: free.id, cost: ZERO, tariff: null, usage: { input: 7 } },
      ])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('pages of one account and of all have each charge once, newest first', async () => {
      const { ledger, store, accountId, apiKeyId } = await openWithFunds(kind, usd('9'))
      const other = await anAccount(store, { funds: usd('9') })
      const mine = { accountId, apiKeyId }
      const charged: { readonly accountId: number; readonly id: Id }[] = []
      for (const payer of [mine, other, mine, mine]) {
        const held = await hold(ledger, { accountId: payer.accountId, kind: 'text', amount: usd('1') })
        await ledger.captureHold(held, aCharge(payer.apiKeyId))
        charged.unshift({ accountId: payer.accountId, id: held.id })
      }

      const own = await readPages(before => ledger.usage(accountId, { limit: 2, ...before }))
      const all = await readPages(before => ledger.usage(undefined, { limit: 2, ...before }))

      expect(own).toEqual(charged.filter(charge => charge.accountId === accountId).map(({ id }) => id))
      expect(all).toEqual(charged.map(({ id }) => id))
    })
  })
}

/** The ids of all pages in turn. */
async function readPages(
  read: (page: { before?: string }) => ReturnType<Ledger['usage']>,
): Promise<readonly Id[]> {
  const ids: Id[] = []
  let page = {}
  for (;;) {
    const lines = await read(page)
    const last = lines.at(-1)
    if (last === undefined) return ids
    ids.push(...lines.map(line => line.id))
    page = { before: last.cursor }
  }
}
