import { describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/domain/ids.ts'
import { addUsd, nanoUsd, subtractUsd, usd, ZERO } from '../../../src/domain/money.ts'
import { NO_USAGE } from '../../../src/domain/pricing/usage.ts'
import type { Charge } from '../../../src/gateway/ports/ledger/charge.ts'
import type { Ledger } from '../../../src/gateway/ports/ledger/ledger.ts'
import type { ChargeSums } from '../../../src/gateway/ports/ledger/ledger-reports.ts'
import {
  aBill,
  aCharge,
  aChargeOf,
  anAccount,
  anAttempt,
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
    test('usage has each charge as it was made, with its frozen tariff', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('100'))
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('1') })
      const charge: Charge = {
        kind: 'text',
        cost: usd('0.000092'),
        providerCost: null,
        route: 'chat',
        apiKeyId,
        model: 'gpt-x',
        provider: 'main',
        usage: { ...NO_USAGE, input: 10, cachedInput: 20, output: 30, reasoning: 4 },
        provenance: 'estimated',
        isClamped: true,
        assumedCached: 20,
        tariff: { input: usd('1'), output: usd('2'), cachedInput: usd('0.5'), perRequest: usd('0.000004') },
        atMs: NOW,
      }
      await ledger.captureHold(held, charge)

      const lines = await ledger.usage(accountId, { limit: 10 })

      expect(lines).toEqual([
        { ...charge, id: held.id, cursor: expect.any(String), accountId, refunded: ZERO },
      ])
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test.each(['text', 'media'] as const)(
      'usage has the tags and the user of a charge for %s, also after a restart',
      async held => {
        const { ledger, accountId, apiKeyId, reopen } = await openWithFunds(kind, usd('100'))
        const attribution = { tags: new Map([['team', 'a=b c']]), userId: 'Zoë "1", 李' }
        const charge = { ...aChargeOf(held, apiKeyId), ...attribution }
        await ledger.captureHold(await hold(ledger, { accountId, kind: held, amount: usd('1') }), charge)

        const again = (await reopen()).ledger

        expect(await again.usage(accountId, { limit: 10 })).toMatchObject([attribution])
        expect((await again.statement(accountId, { limit: 1 }))[0]).toMatchObject(attribution)
        expect(await again.verify()).toMatchObject({ problems: [] })
      },
    )

    test('usage has the counts that only some requests have: hour-long cache writes and uses of server tools', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('100'))
      const usage = { ...NO_USAGE, input: 1, cacheWrite1h: 3, serverToolUses: 2 }
      const tariff = {
        input: usd('1000000'),
        output: usd('1'),
        cacheWrite1h: usd('2000000'),
        perServerToolUse: usd('0.5'),
      }
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('10') })
      await ledger.captureHold(held, aCharge(apiKeyId, { usage, tariff }))

      const [line] = await ledger.usage(accountId, { limit: 10 })

      expect(line).toMatchObject({ usage, tariff, cost: usd('8') })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test('usage has the searches and the service tier of a request, and its charge agrees with them', async () => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('100'))
      const usage = { ...NO_USAGE, input: 3, searchCalls: 2, fileSearches: 1, serviceTier: 'priority' }
      const tariff = {
        input: usd('1000000'),
        output: usd('1'),
        perSearchCall: usd('0.01'),
        perFileSearch: usd('0.0025'),
        tiers: [{ aboveInputTokens: 2, prices: { input: usd('500000') } }],
        serviceTiers: { priority: 1_500_000_000n, flex: 500_000_000n },
      }
      const held = await hold(ledger, { accountId, kind: 'text', amount: usd('10') })
      await ledger.captureHold(held, aCharge(apiKeyId, { usage, tariff }))

      const [line] = await ledger.usage(accountId, { limit: 10 })

      expect(line).toMatchObject({ usage, tariff, cost: usd('2.2725') })
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test.each([
      ['images', (apiKeyId: number) => anImagesCharge(apiKeyId, 3)],
      ['a clip', (apiKeyId: number) => aVideoCharge(apiKeyId, 4250)],
    ])('usage has a charge for %s as it was made, and takes it out of the hold', async (_, chargeOf) => {
      const { ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('10'))
      const held = await hold(ledger, { accountId, kind: 'media', amount: usd('5') })
      const charge = chargeOf(apiKeyId)
      await ledger.captureHold(held, charge)

      const lines = await ledger.usage(accountId, { limit: 10 })

      expect(lines).toEqual([
        { ...charge, id: held.id, cursor: expect.any(String), accountId, refunded: ZERO },
      ])
      expect((await ledger.balance(accountId)).available).toBe(subtractUsd(usd('10'), charge.cost))
      expect(await ledger.verify()).toMatchObject({ problems: [] })
    })

    test.each([
      ['text', 'text', (apiKeyId: number): Charge => aCharge(apiKeyId)],
      ['images', 'media', (apiKeyId: number): Charge => anImagesCharge(apiKeyId)],
      ['a clip', 'media', (apiKeyId: number): Charge => aVideoCharge(apiKeyId)],
    ] as const)(
      'usage has what the provider says that it bills for %s, also after a restart',
      async (_, held, of) => {
        const { ledger, reopen, accountId, apiKeyId } = await openWithFunds(kind, usd('10'))
        const placed = await hold(ledger, { accountId, kind: held, amount: usd('5') })
        await ledger.captureHold(placed, { ...of(apiKeyId), providerCost: usd('0.7') })

        const reopened = (await reopen()).ledger

        expect(await reopened.usage(accountId, { limit: 1 })).toMatchObject([{ providerCost: usd('0.7') }])
        expect(await reopened.findCharge(placed.id)).toMatchObject({ providerCost: usd('0.7') })
        expect(await reopened.verify()).toMatchObject({ problems: [] })
      },
    )

    test('usage has free requests and those at the upstream’s own cost, which have no tariff', async () => {
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

    describe.each([
      ['an ordinary clock', (at: number) => at],
      ['a clock that was set back', (at: number) => (at % 7 === 0 ? at - kind.setBackMs : at)],
    ])('of a time, with %s,', (_, clockAt) => {
      test('the usage of a time is the charges from its start on and before its end, and their sums', async () => {
        const { store, ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('1000'))
        const other = await anAccount(store, { funds: usd('1000') })
        const all: { readonly accountId: number; readonly id: Id; readonly charge: Charge }[] = []
        for (let index = 0; index < 60; index += 1) {
          const payer = index % 3 === 0 ? other : { accountId, apiKeyId }
          const atMs = clockAt(NOW + index * 3 * HOUR)
          const providerCost = index % 4 === 0 ? null : nanoUsd(BigInt(index) ** 5n)
          const charge = { ...aChargeOfAnyKind(payer.apiKeyId, index), atMs, providerCost }
          const holdKind = charge.kind === 'text' ? 'text' : 'media'
          const held = await hold(ledger, { ...payer, kind: holdKind, amount: usd('9') })
          await ledger.captureHold(held, charge)
          all.push({ accountId: payer.accountId, id: held.id, charge })
        }

        for (const [from, to] of RANGES_IN_HOURS) {
          const between = { fromMs: NOW + from * HOUR, toMs: NOW + to * HOUR }
          const inTime = all
            .filter(({ charge: { atMs } }) => atMs >= between.fromMs && atMs < between.toMs)
            .toReversed()
          const own = inTime.filter(made => made.accountId === accountId)
          const idsOf = (lines: readonly { readonly id: Id }[]) => lines.map(({ id }) => id.key)

          expect(idsOf(await ledger.usage(accountId, { limit: 100, between }))).toEqual(idsOf(own))
          expect(idsOf(await ledger.usage(undefined, { limit: 100, between }))).toEqual(idsOf(inTime))
          expect(await pagesOf(ledger, accountId, between)).toEqual(idsOf(own))
          expect(await ledger.usageTotals(accountId, between)).toEqual({
            ...sumOf(own.map(made => made.charge)),
            refunded: ZERO,
          })
        }
        expect(await ledger.verify()).toMatchObject({ problems: [] })
      })
    })

    test.each([
      ['a whole day', { fromMs: START_OF_DAY, toMs: START_OF_DAY + 24 * HOUR }],
      ['a part of a day', { fromMs: NOW, toMs: NOW + 1 }],
    ])(
      'totals have the charge and the credit back of a late answer as one charge: %s',
      async (_, between) => {
        const { store, ledger, accountId, apiKeyId } = await openWithFunds(kind, usd('10'))
        const attempt = anAttempt({ accountId, apiKeyId })
        await store.attempts.record(attempt)
        await store.attempts.bill(attempt, { ...aBill(), providerCost: usd('0.7') })
        await ledger.compensate(attempt, NOW)
        const paid = await hold(ledger, { accountId, kind: 'text', amount: usd('2') })
        await ledger.captureHold(paid, aCharge(apiKeyId, { tokens: 2 }))
        const { signal } = new AbortController()

        const totals = await ledger.usageTotals(accountId, between)
        const grouped = await ledger.usageGroups(accountId, {
          between,
          matching: { tags: new Map() },
          limit: 1,
          signal,
        })

        expect(totals).toMatchObject({
          charges: 2,
          cost: usd('3'),
          compensated: usd('1'),
          providerCost: usd('0.7'),
          chargesWithoutCost: 1,
        })
        expect(grouped.totals).toEqual(totals)
        expect(await ledger.verify()).toMatchObject({ problems: [] })
      },
    )

    test('usage of a time without charges is empty, and its sums are zero', async () => {
      const { ledger, accountId } = await openWithFunds(kind, usd('1'))
      const between = { fromMs: NOW - 3 * HOUR, toMs: NOW }

      expect(await ledger.usage(accountId, { limit: 10, between })).toEqual([])
      expect(await ledger.usage(undefined, { limit: 10, between })).toEqual([])
      expect(await ledger.usageTotals(accountId, between)).toEqual({ ...sumOf([]), refunded: ZERO })
    })
  })
}

const HOUR = 3_600_000
const START_OF_DAY = NOW - (NOW % (24 * HOUR))

/** The charges of the test are 3 hours apart. NOW is at 08:00 UTC. */
const RANGES_IN_HOURS = [
  [0, 180],
  [-8, 16],
  [-8, 160],
  [16, 40],
  [1, 2],
  [3, 6],
  [15, 100],
  [-100, 1],
  [170, 1000],
  [-500, 2000],
] as const

function aChargeOfAnyKind(apiKeyId: number, index: number): Charge {
  if (index % 5 === 1) return anImagesCharge(apiKeyId, 1 + (index % 3))
  if (index % 5 === 2) return aVideoCharge(apiKeyId, 1000 + index)
  return aCharge(apiKeyId, { tokens: index % 4 })
}

async function pagesOf(
  ledger: Ledger,
  accountId: number,
  between: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly bigint[]> {
  const ids: bigint[] = []
  for (let before: string | undefined; ;) {
    const lines = await ledger.usage(accountId, {
      limit: 7,
      between,
      ...(before === undefined ? {} : { before }),
    })
    ids.push(...lines.map(({ id }) => id.key))
    if (lines.length < 7) return ids
    before = lines.at(-1)?.cursor
  }
}

function sumOf(charges: readonly Charge[]): ChargeSums {
  const sum = (measure: (charge: Charge) => number) =>
    charges.reduce((total, charge) => total + measure(charge), 0)
  return {
    charges: charges.length,
    inputTokens: sum(charge => (charge.kind === 'text' ? charge.usage.input : 0)),
    outputTokens: 0,
    images: sum(charge => (charge.kind === 'images' ? charge.images : 0)),
    durationMs: sum(charge => (charge.kind === 'video' ? charge.durationMs : 0)),
    cost: charges.reduce((total, { cost }) => addUsd(total, cost), ZERO),
    compensated: ZERO,
    providerCost: charges.reduce((total, { providerCost }) => addUsd(total, providerCost ?? ZERO), ZERO),
    chargesWithoutCost: charges.filter(({ providerCost }) => providerCost === null).length,
  }
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
