import { formatUsd, nanoUsd, parseUsd, usd, ZERO, type NanoUsd } from '../../money.ts'
import { FACTOR_ONE, type ServiceTiers } from '../../pricing/service-tiers.ts'
import type { PriceTier, TextPrices, TextPricing, TextTariff, VideoTariff } from '../../pricing/tariff.ts'
import { list, number } from './fields.ts'
import { report } from './problem.ts'
import {
  definedOnly,
  describe,
  fieldOf,
  openRow,
  placeOf,
  quote,
  refuseUnknownFields,
  reportField,
  reportMissing,
  type Place,
  type Row,
} from './row.ts'

/** Keeps a price times the highest token count well inside a 64-bit integer. */
const PRICE_MAX = usd('1000000')
/** Of a markup or a service tier, in billionths. */
const FACTOR_MAX = 1000n * FACTOR_ONE
/** More than any provider has. */
const TIERS_MAX = 8
/** More than any provider has. */
const SERVICE_TIERS_MAX = 16
export const SERVICE_TIERS = 'service_tiers'
export const serviceTierName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/
const TIER_START = 'above_input_tokens'
const TIER_TOKENS = { min: 1, max: 100_000_000, whole: true }

/** The field names of a text tariff in a row. */
export const tariffFields = {
  input: 'input_per_mtok',
  cachedInput: 'cached_input_per_mtok',
  cacheWrite: 'cache_write_per_mtok',
  cacheWrite1h: 'cache_write_1h_per_mtok',
  audioInput: 'audio_input_per_mtok',
  output: 'output_per_mtok',
  reasoning: 'reasoning_per_mtok',
  audioOutput: 'audio_output_per_mtok',
  perRequest: 'per_request',
  perServerToolUse: 'per_server_tool_use',
  perSearchCall: 'per_search_call',
  perFileSearch: 'per_file_search',
} as const satisfies Record<keyof TextPrices, string>

export type TextKind = 'chat' | 'embedding'

export const textPriceExamples = {
  chat: '{input_per_mtok: "2.5", output_per_mtok: "10"}',
  embedding: '{input_per_mtok: "0.02"}',
} as const satisfies Record<TextKind, string>

const otherWays = '"free", or "upstream_cost" with a ceiling_pricing'

/** The remedy for a text row without a price. */
export function textPricingRemedy(kind: TextKind): string {
  return `write ${textPriceExamples[kind]}, ${otherWays}`
}

/** Reads the `pricing` of a text row with `markup` and `ceiling_pricing`; undefined when it has none. */
export function readTextPricing(row: Row, kind: TextKind): TextPricing | undefined {
  const value = fieldOf(row, 'pricing')
  if (value === 'upstream_cost') return readUpstreamCost(row, kind)
  for (const field of ['markup', 'ceiling_pricing']) {
    if (fieldOf(row, field) === undefined) continue
    reportField(row, field, { message: 'is only used with pricing: upstream_cost', remedy: 'leave it out' })
  }
  if (value === undefined) return undefined
  if (value === 'free') return { kind: 'free' }
  const tariff = readTextTariff(value, placeOf(row, 'pricing'), { kind, remedy: textPricingRemedy(kind) })
  return tariff === undefined ? undefined : { kind: 'tariff', tariff }
}

export type TariffFields = Readonly<
  Record<string, string | readonly object[] | Readonly<Record<string, string>>>
>

/** `markup` and `ceiling_pricing` are only used with `upstream_cost`. */
export type PricingFields = {
  readonly pricing: TariffFields | 'free' | 'upstream_cost'
  readonly markup?: string
  readonly ceiling_pricing?: TariffFields
}

/** The pricing fields of a row, with prices in their canonical form. */
export function writeTextPricing(pricing: TextPricing, kind: TextKind): PricingFields {
  switch (pricing.kind) {
    case 'free':
      return { pricing: 'free' }
    case 'tariff':
      return { pricing: writeTextTariff(pricing.tariff, kind) }
    case 'upstream_cost':
      return {
        pricing: 'upstream_cost',
        markup: formatUsd(nanoUsd(pricing.markupBillionths)),
        ceiling_pricing: writeTextTariff(pricing.ceiling, kind),
      }
  }
}

/** The remedy for a video row without a price. */
export const videoPricingRemedy = 'write {per_second: "0.04"}'

/** Reads the price of a video model from a field, such as `pricing` or the `cost` of an upstream. */
export function readVideoPricing(row: Row, field = 'pricing'): VideoTariff | undefined {
  const value = fieldOf(row, field)
  if (value === undefined) return undefined
  const pricing = openRow(value, placeOf(row, field), videoPricingRemedy)
  if (pricing === undefined) return undefined
  refuseUnknownFields(pricing, 'this pricing', ['per_second'])
  const perSecond = readPrice(pricing, 'per_second', { isRequired: true })
  return perSecond === undefined ? undefined : { perSecond }
}

/** Reads the `cost` of a text upstream: a tariff. Its provider bills what this says, so it has no other form. */
export function readTextCost(row: Row, kind: TextKind): TextTariff | undefined {
  const value = fieldOf(row, 'cost')
  if (value === undefined) return undefined
  return readTextTariff(value, placeOf(row, 'cost'), { kind, remedy: `write ${textPriceExamples[kind]}` })
}

function readUpstreamCost(row: Row, kind: TextKind): TextPricing | undefined {
  const markup = readFactor(row, 'markup') ?? FACTOR_ONE
  const value = fieldOf(row, 'ceiling_pricing')
  const remedy = `write the highest prices the upstream may have, such as ${textPriceExamples[kind]}`
  if (value === undefined) {
    reportMissing(row, 'ceiling_pricing', remedy)
    return undefined
  }
  const ceiling = readTextTariff(value, placeOf(row, 'ceiling_pricing'), { kind, remedy })
  return ceiling && { kind: 'upstream_cost', markupBillionths: markup, ceiling }
}

/** Reads a factor, in billionths; undefined when it is absent. */
export function readFactor(
  row: Row,
  field: string,
  { max = FACTOR_MAX, example = '1.2' } = {},
): bigint | undefined {
  const value = fieldOf(row, field)
  if (value === undefined) return undefined
  const factor = typeof value === 'string' ? parseUsd(value) : undefined
  if (factor !== undefined && factor > 0n && factor <= max) return factor
  const remedy = `write a factor in quotes, such as "${example}", above 0 and at most ${max / FACTOR_ONE}`
  reportField(row, field, { message: describe(value), remedy })
  return FACTOR_ONE
}

export function readTextTariff(
  value: unknown,
  place: Place,
  { kind, remedy }: { readonly kind: TextKind; readonly remedy: string },
): TextTariff | undefined {
  const row = openRow(value, place, remedy)
  if (row === undefined) return undefined
  refuseUnknownFields(row, 'a tariff', [...Object.values(tariffFields), 'tiers', SERVICE_TIERS])
  const input = readPrice(row, tariffFields.input, { isRequired: true })
  const output = readPrice(row, tariffFields.output, { isRequired: kind === 'chat' })
  const finer = readFinerPrices(row)
  const tiers = readTiers(row)
  const serviceTiers = readServiceTiers(row)
  if (input === undefined) return undefined
  return { input, output: output ?? ZERO, ...finer, ...definedOnly({ tiers, serviceTiers }) }
}

function readFinerPrices(row: Row): Partial<TextPrices> {
  return definedOnly({
    cachedInput: readPrice(row, tariffFields.cachedInput),
    cacheWrite: readPrice(row, tariffFields.cacheWrite),
    cacheWrite1h: readPrice(row, tariffFields.cacheWrite1h),
    audioInput: readPrice(row, tariffFields.audioInput),
    reasoning: readPrice(row, tariffFields.reasoning),
    audioOutput: readPrice(row, tariffFields.audioOutput),
    perRequest: readPrice(row, tariffFields.perRequest),
    perServerToolUse: readPrice(row, tariffFields.perServerToolUse),
    perSearchCall: readPrice(row, tariffFields.perSearchCall),
    perFileSearch: readPrice(row, tariffFields.perFileSearch),
  })
}

function readTiers(row: Row): readonly PriceTier[] | undefined {
  const remedy = 'write a list, such as [{above_input_tokens: 200000, input_per_mtok: "5"}]'
  const tiers = list(row, 'tiers', { max: TIERS_MAX, remedy }, (value, place) => {
    const tier = openRow(value, place, 'write {above_input_tokens: 200000, input_per_mtok: "5"}')
    if (tier === undefined) return undefined
    refuseUnknownFields(tier, 'a tier', [TIER_START, ...Object.values(tariffFields)])
    if (fieldOf(tier, TIER_START) === undefined) reportMissing(tier, TIER_START, 'write a number of tokens')
    const aboveInputTokens = number(tier, TIER_START, TIER_TOKENS)
    const input = readPrice(tier, tariffFields.input)
    const output = readPrice(tier, tariffFields.output)
    const prices = { ...definedOnly({ input, output }), ...readFinerPrices(tier) }
    return aboveInputTokens === undefined ? undefined : { aboveInputTokens, prices }
  })
  for (const [index, { aboveInputTokens }] of tiers?.entries() ?? []) {
    const before = tiers?.[index - 1]
    if (before === undefined || before.aboveInputTokens < aboveInputTokens) continue
    const message = 'does not begin above the tier before it'
    report(row.problems, {
      path: [...row.path, 'tiers', index],
      message,
      remedy: 'list the tiers in ascending order',
    })
  }
  return tiers
}

/** Reads the factor of each service tier, such as `{priority: "2"}`. */
function readServiceTiers(row: Row): ServiceTiers | undefined {
  const value = fieldOf(row, SERVICE_TIERS)
  if (value === undefined) return undefined
  const remedy = 'write the factor of each service tier, such as {flex: "0.5", priority: "2"}'
  const tiers = openRow(value, placeOf(row, SERVICE_TIERS), remedy)
  if (tiers === undefined) return undefined
  const names = Object.keys(tiers.values)
  if (names.length === 0 || names.length > SERVICE_TIERS_MAX) {
    reportField(row, SERVICE_TIERS, {
      message: `has ${names.length} tiers`,
      remedy: `write 1 to ${SERVICE_TIERS_MAX}`,
    })
    return undefined
  }
  const factors: Record<string, bigint> = {}
  for (const name of names) {
    if (!serviceTierName.test(name)) {
      const nameRemedy = 'write the name that answers have in service_tier, such as priority'
      reportField(tiers, name, { message: 'is not the name of a service tier', remedy: nameRemedy })
      continue
    }
    const factor = readFactor(tiers, name)
    if (factor === undefined) reportMissing(tiers, name, 'write a factor in quotes, such as "2"')
    else factors[name] = factor
  }
  return factors
}

function writeTiers(tiers: readonly PriceTier[]): readonly object[] {
  return tiers.map(({ aboveInputTokens, prices }) => ({
    [TIER_START]: aboveInputTokens,
    ...writePrices(prices),
  }))
}

function writePrices(prices: Partial<TextPrices>): Record<string, string> {
  const row: Record<string, string> = {}
  for (const [bucket, field] of Object.entries(tariffFields)) {
    const price = prices[bucket as keyof TextPrices]
    if (price !== undefined) row[field] = formatUsd(price)
  }
  return row
}

function writeServiceTiers(tiers: ServiceTiers): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(tiers).map(([name, factor]) => [name, formatUsd(nanoUsd(factor))]))
}

/** A tariff as fields of a row, with prices in their canonical form. */
export function writeTextTariff(
  { tiers, serviceTiers, ...prices }: TextTariff,
  kind: TextKind,
): TariffFields {
  const row = writePrices(prices)
  // An embedding has no output, so its row omits an output price of zero.
  if (kind === 'embedding' && prices.output === ZERO) delete row[tariffFields.output]
  return {
    ...row,
    ...(tiers && { tiers: writeTiers(tiers) }),
    ...(serviceTiers && { [SERVICE_TIERS]: writeServiceTiers(serviceTiers) }),
  }
}

/** Reads a price in dollars. Reports a wrong one, and a required one that is absent. */
export function readPrice(row: Row, field: string, { isRequired = false } = {}): NanoUsd | undefined {
  const value = fieldOf(row, field)
  const remedy = 'write dollars in quotes, such as "2.5", with at most nine decimals'
  if (value === undefined) {
    if (isRequired) reportMissing(row, field, remedy)
    return undefined
  }
  if (typeof value === 'number') {
    // A number may have lost digits that were in the file, and 0.1 has no exact value.
    const written = parseUsd(String(value)) === undefined ? '' : `: ${quote(String(value))}`
    reportField(row, field, { message: 'is a number', remedy: `write it in quotes${written}` })
    return undefined
  }
  const price = typeof value === 'string' ? parseUsd(value) : undefined
  if (price !== undefined && price >= 0n && price <= PRICE_MAX) return price
  const bounds = price === undefined ? remedy : 'write a price from "0" to "1000000"'
  reportField(row, field, { message: describe(value), remedy: bounds })
  return undefined
}
