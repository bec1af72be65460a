import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Job } from '../../../domain/jobs/job.ts'
import { ZERO, type NanoUsd } from '../../../domain/money.ts'
import { chargeForImages, chargeForVideo } from '../../../domain/pricing/charge.ts'
import { hasTokens, priceOfImageTokens, type ImageTokens } from '../../../domain/pricing/image-tokens.ts'
import type { Billed } from '../../ports/providers/media-provider.ts'

/** A provider's duration may differ by this much from the clip's own header before the header counts. */
const DURATION_SLACK_MS = 500

type Priced = {
  readonly cost: NanoUsd
  readonly count?: number
  /** The tokens that images were charged by. */
  readonly tokens?: ImageTokens
  /** The clip's duration. */
  readonly durationMs?: number
  /** The part of it that is charged: no more than was held. */
  readonly chargedMs?: number
}

/**
 * The cost of a result at the price when the job was created, and never more than was held. Images are charged by their
 * number, at most the requested one; if the provider does not report the number, the requested one counts. A clip is
 * charged by its duration.
 */
export function priceResult(
  { quote, request }: Pick<Job, 'quote' | 'request'>,
  result: {
    readonly outputs: readonly unknown[]
    readonly isCounted: boolean
    readonly durationMs?: number
    readonly tokens?: ImageTokens
    /** The duration in the clip's own header; undefined if it cannot be read. */
    readonly clipMs?: number | undefined
  },
): Priced {
  if (quote.kind === 'images') {
    const count = result.isCounted ? Math.min(result.outputs.length, request.count) : request.count
    const cost = chargeForImages(count, quote.tariff, result.tokens)
    // At a price for each image, the tokens say nothing about the charge.
    const tokens = 'perImage' in quote.tariff ? undefined : result.tokens
    return { cost, count, ...(tokens === undefined ? {} : { tokens }) }
  }
  // If the length of the clip is not known at all, the requested length counts.
  const durationMs = clipDuration(result) ?? request.durationMs ?? quote.heldMs
  const chargedMs = Math.min(durationMs, quote.heldMs)
  return { cost: chargeForVideo(chargedMs, quote.tariff), durationMs, chargedMs }
}

/**
 * The provider's duration. The clip's own header counts if the provider reports none, or one that differs by more than
 * half a second.
 */
function clipDuration({
  durationMs,
  clipMs,
}: {
  readonly durationMs?: number
  readonly clipMs?: number | undefined
}) {
  if (clipMs === undefined || durationMs === undefined) return durationMs ?? clipMs
  return Math.abs(durationMs - clipMs) > DURATION_SLACK_MS ? clipMs : durationMs
}

/**
 * What a job cost the operator, as a member of a step: the provider's own amount, or else the result at the `cost` of
 * its upstream when the job was created, or else its tokens at the `provider_prices` of the model's row, as it is now.
 * The sandbox bills nothing for a result. Empty if the provider reports no cost and no row names a rate: nothing is
 * guessed. So a job without a result has no cost by the result.
 */
export function providerCostOf(
  { model: name, provider, quote }: Pick<Job, 'model' | 'provider' | 'quote'>,
  { providerCost, tokens }: Billed,
  { catalog }: { readonly catalog: { current(): Catalog } },
  made?: Priced,
): { readonly providerCost?: NanoUsd } {
  if (providerCost !== undefined) return { providerCost }
  const costOfResult = made && costAtQuote(quote, made, tokens)
  if (costOfResult !== undefined) return { providerCost: costOfResult }
  const { models, providers } = catalog.current()
  const model = models.get(name)
  const prices = model?.kind === 'image' ? model.providerPrices : undefined
  if (prices !== undefined && hasTokens(tokens)) return { providerCost: priceOfImageTokens(tokens, prices) }
  const isFree = made !== undefined && prices === undefined && providers.get(provider)?.kind === 'sandbox'
  return isFree ? { providerCost: ZERO } : {}
}

/** The cost of the quantities that are charged. Undefined if the upstream's row had none when the job was created. */
function costAtQuote(
  quote: Job['quote'],
  { count = 0, chargedMs = 0 }: Priced,
  tokens: ImageTokens | undefined,
): NanoUsd | undefined {
  if (quote.providerTariff === undefined) return undefined
  return quote.kind === 'images'
    ? chargeForImages(count, quote.providerTariff, tokens)
    : chargeForVideo(chargedMs, quote.providerTariff)
}
