import type { TextModel } from '../../domain/catalog/model.ts'
import { costUnits } from '../../domain/catalog/provider.ts'
import { nanoUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import { chargeForTokens, chargeForUpstreamCost } from '../../domain/pricing/charge.ts'
import { RECORDED_COST_MAX, roundUpToNanoUsd, type ExactUsd } from '../../domain/pricing/exact-usd.ts'
import { chargedTier } from '../../domain/pricing/service-tiers.ts'
import type { TextTariff } from '../../domain/pricing/tariff.ts'
import type { Provenance, Usage } from '../../domain/pricing/usage.ts'
import { usageWithin } from '../../domain/pricing/worst-case.ts'
import type { TextRequest, UsageLimits } from '../../protocol/text-dialect.ts'
import type { Destination } from '../upstreams/destinations.ts'
import { ceilingTariff, type Quote } from './quote-text.ts'

/**
 * The largest usage that is accepted from an upstream. Its output cannot exceed the ceiling the request was admitted
 * with: if the upstream ignores that ceiling, the customer does not pay for it. So only input, which is estimated, can
 * make a charge exceed its hold.
 *
 * Without a context window, the input has no limit except where no count can be right. The length of the request is not
 * a limit: the model also reads the pages of a document, content stored at the provider, and the results of the
 * provider's own tools.
 */
export function usageLimits({
  model,
  quote,
}: {
  readonly model: TextModel
  readonly quote: Quote
}): UsageLimits {
  const { outputTokens, choices } = quote.worst
  const serviceTiers = quote.pricing.kind === 'tariff' ? quote.pricing.tariff.serviceTiers : undefined
  return {
    inputTokensMax: quote.inputTokensMax,
    outputTokensMax: model.kind === 'chat' ? outputTokens * choices : undefined,
    serverToolUsesMax: quote.serverToolUsesMax,
    toolCallsMax: quote.toolCallsMax,
    tierLimit: serviceTiers && { serviceTiers, dearest: quote.dearestTier },
  }
}

/** The limits of a usage that this upstream reports, and how its provider's row says that it reports. */
export function reportedUsageLimits(
  admitted: { readonly model: TextModel; readonly quote: Quote; readonly request: TextRequest },
  { provider, converted }: Pick<Destination, 'provider' | 'converted'>,
): UsageLimits {
  const { request } = converted ?? admitted
  const { costField, costUnit = 'usd', usageStyle } = provider
  // The total also counts the prompts of Google's own tools.
  const hidesThinking = usageStyle === 'gemini' && request.usesGoogleTools !== true
  return {
    ...usageLimits(admitted),
    ...(hidesThinking && { hidesThinking }),
    ...(costField !== undefined && {
      // The first name of the path is the usage itself.
      costField: { path: costField.split('.').slice(1), unitDecimals: costUnits[costUnit] },
    }),
  }
}

/** A usage that is charged: reported by the upstream, or else estimated. */
export type MeteredUsage = {
  readonly usage: Usage
  readonly provenance: Provenance
  readonly isClamped: boolean
  /** The part of an estimated input that counts as cached, because an earlier prompt began alike. Absent for none. */
  readonly assumedCached?: number
}

/** What the provider bills for an answer. */
export type ProviderBill = {
  /** The cost that it reported; null if it did not. */
  readonly reported: ExactUsd | null
  /** The prices at which it bills, from the row of the model. They count only without a reported cost. */
  readonly prices: TextTariff | undefined
}

export type TextPrice = {
  readonly cost: NanoUsd
  /** The provider's cost, for the operator's books; see `recordedCost`. */
  readonly providerCost: NanoUsd | null
  /** The tariff of the charge; null for a free row, and if the charge is the upstream's own cost. */
  readonly tariff: TextTariff | null
  readonly isClamped: boolean
  /** True if the upstream should have reported its cost and did not. Then nothing is charged. */
  readonly isCostUnreported: boolean
}

/**
 * The price of a usage under a quote. At a tariff it is exact, so that the books can be checked against it. An
 * upstream's own cost is charged up to the worst case, because its ceiling tariff is the most that the operator
 * promised.
 */
export function priceText(quote: Quote, metered: MeteredUsage, bill: ProviderBill): TextPrice {
  return {
    ...customerPrice(quote, metered, bill.reported),
    providerCost: recordedCost(bill, metered.usage),
  }
}

/**
 * The provider's cost of a usage as the books record it: the one that it reported, or else the usage at its prices,
 * each rounded up once to a nano-USD. Null if it reported none that is possible and has no prices, or the usage is not
 * known.
 */
export function recordedCost({ reported, prices }: ProviderBill, usage: Usage | null): NanoUsd | null {
  if (reported !== null && reported.units >= 0n) {
    const cost = roundUpToNanoUsd(reported)
    if (cost <= RECORDED_COST_MAX) return cost
  }
  if (prices === undefined || usage === null) return null
  const cost = chargeForTokens(usage, prices)
  return cost > RECORDED_COST_MAX ? null : cost
}

function customerPrice(
  quote: Quote,
  { usage, isClamped }: MeteredUsage,
  reportedCost: ExactUsd | null,
): Omit<TextPrice, 'providerCost'> {
  const { pricing, amount } = quote
  if (pricing.kind === 'free') return { cost: ZERO, tariff: null, isClamped, isCostUnreported: false }
  if (pricing.kind === 'tariff') {
    const { tariff } = pricing
    return { cost: chargeForTokens(usage, tariff), tariff, isClamped, isCostUnreported: false }
  }
  if (reportedCost === null) return { cost: ZERO, tariff: null, isClamped, isCostUnreported: true }
  const isNegative = reportedCost.units < 0n
  const wanted = isNegative ? ZERO : chargeForUpstreamCost(reportedCost, pricing.markupBillionths)
  const isBeyond = isNegative || wanted > amount
  return {
    cost: wanted > amount ? nanoUsd(amount) : wanted,
    tariff: null,
    isClamped: isClamped || isBeyond,
    isCostUnreported: false,
  }
}

/**
 * Like `priceText`, for a stream that its client did not get completely: at most the worst case. If the upstream should
 * have reported its cost and did not, the usage is priced at the ceiling tariff, which the charge then records.
 */
export function priceInterrupted(
  quote: Quote,
  metered: MeteredUsage,
  bill: ProviderBill,
): { readonly metered: MeteredUsage; readonly price: TextPrice } {
  const { pricing, amount } = quote
  const tariff = ceilingTariff(pricing)
  if (tariff === null || (pricing.kind === 'upstream_cost' && bill.reported !== null))
    return { metered, price: priceText(quote, metered, bill) }
  const isWithin = chargeForTokens(metered.usage, tariff) <= amount
  // Tokens are left out, not money, so that the charge can be computed again from its usage.
  const usage = isWithin ? metered.usage : usageWithinHold(metered.usage, tariff, quote)
  const isClamped = metered.isClamped || !isWithin
  return {
    metered: { ...metered, usage, isClamped },
    price: {
      cost: chargeForTokens(usage, tariff),
      providerCost: recordedCost(bill, usage),
      tariff,
      isClamped,
      isCostUnreported: false,
    },
  }
}

/** A usage that costs at most what was held. A ceiling tariff may price a dearer service tier than the held one. */
function usageWithinHold(
  usage: Usage,
  { serviceTiers }: TextTariff,
  { worst, dearestTier: dearest }: Quote,
): Usage {
  const { serviceTier: reported, ...tokens } = usageWithin(usage, worst)
  const serviceTier = chargedTier(reported, serviceTiers && { serviceTiers, dearest })
  return serviceTier === undefined ? tokens : { ...tokens, serviceTier }
}
