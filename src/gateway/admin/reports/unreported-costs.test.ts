import { expect, test } from 'bun:test'
import { aCharge, hold, openWithFunds } from '../../../../test/support/ledger-builders.ts'
import { sqlite } from '../../../../test/support/test-store.ts'
import { aCatalogOf, aDestination } from '../../../../test/support/upstream-rows.ts'
import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { ChatModel } from '../../../domain/catalog/model.ts'
import { usd, ZERO } from '../../../domain/money.ts'
import type { TextCharge } from '../../ports/ledger/charge.ts'
import { modelsWithoutCosts } from './unreported-costs.ts'

const SILENT = { tariff: null, cost: ZERO, providerCost: null }
const WITH_COST = { tariff: null, cost: usd('0.1'), providerCost: usd('0.1') }

/** A catalog whose model charges its provider's own cost. */
function aCatalog(change: Partial<ChatModel> = {}): Catalog {
  const catalog = aCatalogOf([aDestination('main')])
  const [model] = catalog.models.values()
  const ceiling = { input: usd('1'), output: usd('1') }
  const pricing = { kind: 'upstream_cost', markupBillionths: 1_000_000_000n, ceiling } as const
  return { ...catalog, models: new Map([['gpt-x', { ...(model as ChatModel), pricing, ...change }]]) }
}

/** The models without costs after these charges, the oldest first. */
async function silentAfter(charges: readonly Partial<TextCharge>[], catalog = aCatalog()) {
  const { ledger, accountId, apiKeyId } = await openWithFunds(sqlite, usd('10'))
  for (const charge of charges) {
    const held = await hold(ledger, { accountId, kind: 'text', amount: usd('0.2') })
    await ledger.captureHold(held, aCharge(apiKeyId, charge))
  }
  return modelsWithoutCosts(catalog, ledger)
}

const times = (count: number, charge: Partial<TextCharge>) => Array<Partial<TextCharge>>(count).fill(charge)

test.each<[string, Partial<TextCharge>[], boolean]>([
  ['20 answers without a cost', times(20, SILENT), true],
  ['19 answers without a cost', times(19, SILENT), false],
  ['20 answers without a cost after one that had one', [WITH_COST, ...times(20, SILENT)], true],
  ['one with a cost after 20 that had none', [...times(20, SILENT), WITH_COST], false],
  [
    'a reported cost of zero after 20 that had none',
    [...times(20, SILENT), { ...WITH_COST, cost: ZERO, providerCost: ZERO }],
    false,
  ],
  [
    'a charge of an earlier version, which did not record the cost',
    [...times(20, SILENT), { ...WITH_COST, providerCost: null }],
    false,
  ],
  [
    'an interrupted stream after 20 answers without a cost, which says nothing',
    [...times(20, SILENT), { ...WITH_COST, providerCost: null, provenance: 'estimated' }],
    true,
  ],
  ['20 answers of another model', times(20, { ...SILENT, model: 'other' }), false],
  ['20 answers at a tariff', times(20, { providerCost: null, cost: ZERO, tokens: 0 } as object), false],
])('only a model whose answers have no cost is listed: after %s', async (_, charges, isSilent) => {
  expect(await silentAfter(charges)).toEqual(isSilent ? ['gpt-x'] : [])
})

test('a model that is off is not checked', async () => {
  expect(await silentAfter(times(20, SILENT), aCatalog({ enabled: false }))).toEqual([])
})
