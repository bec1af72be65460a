import { subtractUsd, ZERO, type NanoUsd } from '../money.ts'
import { chargeForImages, chargeForTokens, chargeForUpstreamCost, chargeForVideo } from '../pricing/charge.ts'
import type { ImageTariff, TextPricing, TextTariff, VideoTariff } from '../pricing/tariff.ts'
import { NO_USAGE } from '../pricing/usage.ts'
import type { Catalog } from './catalog.ts'
import type { Model, TextModel } from './model.ts'
import { pricedModel, type PriceList } from './price-list.ts'
import { encodeModel } from './rows/model-row.ts'

/** The prices of one model under two price lists, with the cost of one example. */
export type PriceChange = {
  readonly model: string
  readonly kind: Model['kind']
  /** The fields of the row with its price. */
  readonly before: Record<string, unknown>
  readonly after: Record<string, unknown>
  readonly example: PriceExample
}

/** The cost of one request. Null for prices that follow the provider's cost, which the example does not have. */
export type PriceExample = {
  readonly of: string
  readonly before: NanoUsd | null
  readonly after: NanoUsd | null
}

/**
 * The models whose price differs between two price lists, in the order of the catalog. Undefined stands for the default
 * prices.
 */
export function priceChanges(
  { models }: Pick<Catalog, 'models'>,
  before: PriceList | undefined,
  after: PriceList | undefined,
): readonly PriceChange[] {
  return [...models.values()].flatMap(model => {
    const [left, right] = [pricedModel(model, before), pricedModel(model, after)]
    const fields = [priceFields(left), priceFields(right)] as const
    if (JSON.stringify(fields[0]) === JSON.stringify(fields[1])) return []
    return [
      {
        model: model.id,
        kind: model.kind,
        before: fields[0],
        after: fields[1],
        example: exampleOf(left, right),
      },
    ]
  })
}

/** What one request costs the customer before and after a change of a model, and what its providers bill for it. */
export type WorkedExample = PriceExample & {
  /** Of each upstream whose prices are known. `margin` is the price after the change less the cost. */
  readonly costs: readonly {
    readonly provider: string
    readonly cost: NanoUsd
    readonly margin: NanoUsd | null
  }[]
}

/** A worked example of a change of a model. Undefined before: the model is new, or had no price. */
export function workedExample(before: Model | undefined, after: Model): WorkedExample {
  const isOfKind = before?.kind === after.kind
  const example = exampleOf(isOfKind ? before : after, after)
  const price = example.after
  const costs = after.upstreams.flatMap(({ provider, cost: tariff }) => {
    const cost = tariff === undefined ? undefined : exampleCostAt(after, tariff)
    return cost === undefined
      ? []
      : [{ provider, cost, margin: price === null ? null : subtractUsd(price, cost) }]
  })
  return { ...example, before: isOfKind ? example.before : null, costs }
}

/** The cost of the example at the prices of a provider, which have the form of the model's own prices. */
function exampleCostAt(
  model: Model,
  cost: NonNullable<Model['upstreams'][number]['cost']>,
): NanoUsd | undefined {
  switch (model.kind) {
    case 'chat':
    case 'embedding':
      if (isAtUpstreamCost(model)) return undefined
      return chargeForTokens(model.kind === 'chat' ? EXAMPLE_USAGE : EXAMPLE_INPUT, cost as TextTariff)
    case 'image':
      return chargeForImages(1, cost as ImageTariff)
    case 'video':
      return chargeForVideo(EXAMPLE_CLIP_MS, cost as VideoTariff)
  }
}

function priceFields(model: Model): Record<string, unknown> {
  const { pricing, markup, ceiling_pricing } = encodeModel(model)
  return { pricing, ...(markup === undefined ? {} : { markup, ceiling_pricing }) }
}

const EXAMPLE_USAGE = { ...NO_USAGE, input: 1_000, output: 500 }
const EXAMPLE_INPUT = { ...NO_USAGE, input: 1_000 }
const EXAMPLE_CLIP_MS = 8_000
/** A hundredth of a dollar. */
const EXAMPLE_COST = { units: 1n, scale: 2 }

const exampleWords = {
  chat: '1,000 input tokens and 500 output tokens',
  embedding: '1,000 input tokens',
  image: 'one image, at most',
  video: 'a clip of 8 seconds',
} as const satisfies Record<Model['kind'], string>

function exampleOf(left: Model, right: Model): PriceExample {
  if (isAtUpstreamCost(left) && isAtUpstreamCost(right))
    return {
      of: 'a request that costs 0.01 USD at the provider',
      before: chargeForUpstreamCost(EXAMPLE_COST, left.pricing.markupBillionths),
      after: chargeForUpstreamCost(EXAMPLE_COST, right.pricing.markupBillionths),
    }
  return { of: exampleWords[left.kind], before: exampleCost(left), after: exampleCost(right) }
}

type AtUpstreamCost = TextModel & { readonly pricing: Extract<TextPricing, { kind: 'upstream_cost' }> }

function isAtUpstreamCost(model: Model): model is AtUpstreamCost {
  return 'kind' in model.pricing && model.pricing.kind === 'upstream_cost'
}

function exampleCost(model: Model): NanoUsd | null {
  switch (model.kind) {
    case 'chat':
    case 'embedding': {
      const { pricing } = model
      if (pricing.kind === 'free') return ZERO
      if (pricing.kind === 'upstream_cost') return null
      return chargeForTokens(model.kind === 'chat' ? EXAMPLE_USAGE : EXAMPLE_INPUT, pricing.tariff)
    }
    case 'image':
      return chargeForImages(1, model.pricing)
    case 'video':
      return chargeForVideo(EXAMPLE_CLIP_MS, model.pricing)
  }
}
