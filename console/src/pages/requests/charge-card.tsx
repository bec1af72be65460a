/** How the cost of a request was computed: each quantity with its price, the sum, and the one rounding. */
import type { components } from '../../api/schema.d.ts'
import { Card, Facts, Instant, Money } from '../../parts/facts.tsx'
import { count, money } from '../../parts/format.ts'
import { Table, type Column } from '../../parts/table.tsx'
import { chargeTexts } from './texts.ts'

const words = chargeTexts

type Charge = NonNullable<components['schemas']['AdminRequestPage']['charge']>
type Item = NonNullable<Charge['arithmetic']>['items'][number]

const columns: readonly Column<Item>[] = [
  { label: words.item, show: ({ item }) => words.items[item] },
  { label: words.quantity, show: ({ quantity }) => count(quantity), isNumber: true },
  {
    label: words.price,
    show: ({ price_usd: price, per }) => (
      <span class="number">
        {money(price)} <span class="soft">{per === 1 ? words.each : words.per(count(per))}</span>
      </span>
    ),
    isNumber: true,
  },
  { label: words.amount, show: ({ amount_usd: amount }) => <Money of={amount} />, isNumber: true },
]

export function ChargeCard({ of: charge }: { readonly of: Charge }) {
  const { arithmetic } = charge
  return (
    <Card title={words.title}>
      <div class="stack">
        {arithmetic === null ? (
          <p class="soft">{words.pricings[charge.pricing]}</p>
        ) : (
          <Table label={words.title} rows={arithmetic.items} columns={columns} keyOf={({ item }) => item} />
        )}
        <Facts of={factsOf(charge)} />
      </div>
    </Card>
  )
}

type Fact = Parameters<typeof Facts>[0]['of'][number]

function factsOf(charge: Charge): readonly Fact[] {
  const { arithmetic, provider_cost_usd: providerCost } = charge
  return [
    ...(arithmetic === null ? [] : arithmeticFacts(arithmetic)),
    [words.cost, <Money of={charge.cost_usd} />],
    [words.refunded, <Money of={charge.refunded_usd} />],
    ...when(charge.shortfall_usd !== '0', [words.shortfall, <Money of={charge.shortfall_usd} />]),
    [words.source, words.sources[charge.source]],
    ...when(charge.is_clamped, [words.clamped, words.clampedText]),
    [words.provider, charge.provider],
    [words.providerCost, providerCost === null ? words.unknown : <Money of={providerCost} />],
    [words.time, <Instant at={charge.created_at} />],
  ]
}

function arithmeticFacts(arithmetic: NonNullable<Charge['arithmetic']>): readonly Fact[] {
  const { sum_usd: sum, total_usd: total, above_input_tokens: above, service_tier: tier } = arithmetic
  return [
    [words.sum, <Money of={sum} />],
    ...when(above !== null, [words.tier, words.above(count(above ?? 0))]),
    ...when(tier !== null, [words.serviceTier, `${tier} × ${arithmetic.service_tier_factor}`]),
    [arithmetic.is_at_most ? words.atMost : words.total, <Money of={total} />],
  ]
}

function when(isShown: boolean, fact: Fact): readonly Fact[] {
  return isShown ? [fact] : []
}
