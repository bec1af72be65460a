import { formatUsd } from '../../money.ts'
import type { AnyModelSettings, ModelKind, Upstream } from '../model.ts'
import { list, number, requiredText } from './fields.ts'
import { readImagePricing, writeImagePricing } from './image-pricing.ts'
import { readTextCost, readVideoPricing, writeTextTariff } from './pricing-row.ts'
import { definedOnly, fieldOf, openRow, refuseUnknownFields, reportMissing, type Row } from './row.ts'

const UPSTREAMS_MAX = 16
const RANK = { min: 1, max: 1000, whole: true }
const DEFAULT_RANK = 1
const upstreamName = {
  pattern: /^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}]{0,254}[^\s\p{Cc}\p{Cs}])?$/u,
  remedy: "write the provider's own name of the model, in quotes if it is a number",
}

/** Reads the upstreams of a model's row. A `cost` has the shape of the `pricing` of this kind. */
export function readUpstreams(row: Row, kind: ModelKind): readonly Upstream[] | undefined {
  const remedy = 'write at least one, such as [{provider: main, model: gpt-x}]'
  if (fieldOf(row, 'upstreams') === undefined) reportMissing(row, 'upstreams', remedy)
  return list(row, 'upstreams', { max: UPSTREAMS_MAX, remedy }, (value, place) => {
    const upstream = openRow(value, place, 'write {provider: …, model: …}')
    if (upstream === undefined) return undefined
    refuseUnknownFields(upstream, 'an upstream', ['provider', 'model', 'order', 'weight', 'cost'])
    const provider = requiredText(upstream, 'provider', {
      pattern: /./,
      remedy: 'write the id of a provider',
    })
    const model = requiredText(upstream, 'model', upstreamName)
    const order = number(upstream, 'order', RANK) ?? DEFAULT_RANK
    const weight = number(upstream, 'weight', RANK) ?? DEFAULT_RANK
    const cost = readCost(upstream, kind)
    return provider === undefined || model === undefined
      ? undefined
      : { provider, model, order, weight, ...definedOnly({ cost }) }
  })
}

function readCost(upstream: Row, kind: ModelKind): Upstream['cost'] {
  switch (kind) {
    case 'chat':
    case 'embedding':
      return readTextCost(upstream, kind)
    case 'image':
      return readImagePricing(upstream, 'cost')
    case 'video':
      return readVideoPricing(upstream, 'cost')
  }
}

/** The upstreams of a model in a row. Omits defaults. */
export function writeUpstreams(settings: AnyModelSettings): readonly Record<string, unknown>[] {
  switch (settings.kind) {
    case 'chat':
    case 'embedding': {
      const { kind } = settings
      return settings.upstreams.map(upstream => writeUpstream(upstream, cost => writeTextTariff(cost, kind)))
    }
    case 'image':
      return settings.upstreams.map(upstream => writeUpstream(upstream, writeImagePricing))
    case 'video':
      return settings.upstreams.map(upstream =>
        writeUpstream(upstream, ({ perSecond }) => ({ per_second: formatUsd(perSecond) })),
      )
  }
}

function writeUpstream<Cost>(
  { provider, model, order, weight, cost }: Upstream<Cost>,
  writeCost: (cost: Cost) => object,
): Record<string, unknown> {
  return {
    provider,
    model,
    ...definedOnly({
      order: order === DEFAULT_RANK ? undefined : order,
      weight: weight === DEFAULT_RANK ? undefined : weight,
      cost: cost === undefined ? undefined : writeCost(cost),
    }),
  }
}
