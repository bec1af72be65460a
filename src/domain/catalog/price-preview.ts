import { ZERO, type NanoUsd } from '../money.ts'
import { chargeForImages, chargeForTokens, chargeForUpstreamCost, chargeForVideo } from '../pricing/charge.ts'
import type { TextPricing } from '../pricing/tariff.ts'
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
