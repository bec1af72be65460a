import type { TextModel } from '../../domain/catalog/model.ts'
import { nanoUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import { chargeForTokens, chargeForUpstreamCost } from '../../domain/pricing/charge.ts'
import type { TextPricing, TextTariff } from '../../domain/pricing/tariff.ts'
import type { Provenance, Usage } from '../../domain/pricing/usage.ts'
import { affordableOutputTokens, worstCasePrice, type WorstCase } from '../../domain/pricing/worst-case.ts'
import type { TextRequest } from '../../protocol/text-dialect.ts'

/** What one request can cost, frozen when it is admitted: an edit of the catalog changes nothing for it. */
export type Quote = {
  readonly pricing: TextPricing
  readonly worst: WorstCase
  /** The most input that any usage can have; undefined where the row does not say how much its model reads. */
  readonly inputTokensMax: number | undefined
  /** The price of the worst case: what is held. */
  readonly amount: NanoUsd
}

/** The most input there can be where neither the request can be measured nor the row says how much its model reads. */
export const UNKNOWN_WINDOW_TOKENS = 128_000

/**
 * Prices the worst case: the estimated input, of which no more is ever charged than the model can read, and the output ceiling the
 * request names or else the row's.
 */
export function quoteText(model: TextModel, request: TextRequest): Quote {
  const window = model.contextWindow
  const inputTokensMax = window === undefined ? undefined : window * (request.separateInputs ?? 1)
  const ceiling = model.kind === 'chat' ? (request.outputCeiling ?? model.maxOutputTokens) : 0
  const worst = {
    inputTokens: inputMost(request.inputTokensEstimate, inputTokensMax),
    outputTokens: ceiling,
    choices: request.choices,
  }
  const tariff = ceilingTariff(model.pricing)
  const amount = tariff === null ? ZERO : worstCasePrice(worst, tariff)
  return { pricing: model.pricing, worst, inputTokensMax, amount }
}

function inputMost(estimate: number, most: number | undefined): number {
  if (most !== undefined) return Math.min(estimate, most)
  return estimate === Infinity ? UNKNOWN_WINDOW_TOKENS : estimate
}

/** The largest output ceiling that `available` would pay for; undefined when no ceiling would do. */
export function affordableCeiling({ pricing, worst }: Quote, available: NanoUsd): number | undefined {
  const tariff = ceilingTariff(pricing)
  return tariff === null ? undefined : affordableOutputTokens(worst, tariff, available)
}

/** A usage as it is charged: read from the answer, or else estimated. */
export type MeteredUsage = {
  readonly usage: Usage
  readonly provenance: Provenance
  readonly isClamped: boolean
}

export type TextPrice = {
  readonly cost: NanoUsd
  /** The frozen quote of the charge; null for free rows and the upstream's own cost. */
  readonly tariff: TextTariff | null
  readonly isClamped: boolean
  /** True where the upstream was to report its cost and did not, so that nothing is charged. */
  readonly isCostUnreported: boolean
}

/**
 * What a usage costs under a quote: exactly its price at the tariff, so that the books can be checked against it. An
 * upstream's own cost is charged up to the worst case: its ceiling tariff is the most that the operator promised.
 */
export function priceText(
  quote: Quote,
  { usage, isClamped }: MeteredUsage,
  reportedCost: NanoUsd | null,
): TextPrice {
  const { pricing, amount } = quote
  if (pricing.kind === 'free') return { cost: ZERO, tariff: null, isClamped, isCostUnreported: false }
  if (pricing.kind === 'tariff') {
    const { tariff } = pricing
    return { cost: chargeForTokens(usage, tariff), tariff, isClamped, isCostUnreported: false }
  }
  if (reportedCost === null) return { cost: ZERO, tariff: null, isClamped, isCostUnreported: true }
  const wanted = chargeForUpstreamCost(reportedCost < 0n ? ZERO : reportedCost, pricing.markupBillionths)
  const isBeyond = reportedCost < 0n || wanted > amount
  return {
    cost: wanted > amount ? nanoUsd(amount) : wanted,
    tariff: null,
    isClamped: isClamped || isBeyond,
    isCostUnreported: false,
  }
}

function ceilingTariff(pricing: TextPricing): TextTariff | null {
  if (pricing.kind === 'free') return null
  return pricing.kind === 'tariff' ? pricing.tariff : pricing.ceiling
}
