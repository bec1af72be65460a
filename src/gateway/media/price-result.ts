import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { NanoUsd } from '../../domain/money.ts'
import { chargeForImages, chargeForVideo } from '../../domain/pricing/charge.ts'
import { hasTokens, priceOfImageTokens, type ImageTokens } from '../../domain/pricing/image-tokens.ts'
import type { Billed } from '../ports/media-provider.ts'

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
 * What a job cost the operator, as a member of a step: the provider's own amount, or else its tokens at the
 * `provider_prices` of the model's row. Empty if the provider reports no cost, or no row names a rate: nothing is
 * guessed. The customer's price does not depend on it, so the current catalog is good enough.
 */
export function providerCostOf(
  { model: name }: Pick<Job, 'model'>,
  { providerCost, tokens }: Billed,
  { catalog }: { readonly catalog: { current(): Catalog } },
): { readonly providerCost?: NanoUsd } {
  if (providerCost !== undefined) return { providerCost }
  const model = catalog.current().models.get(name)
  const prices = model?.kind === 'image' ? model.providerPrices : undefined
  return prices === undefined || !hasTokens(tokens)
    ? {}
    : { providerCost: priceOfImageTokens(tokens, prices) }
}
