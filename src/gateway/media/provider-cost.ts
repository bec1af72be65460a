import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Job } from '../../domain/jobs/job.ts'
import type { NanoUsd } from '../../domain/money.ts'
import { hasTokens, priceOfImageTokens } from '../../domain/pricing/image-tokens.ts'
import type { Billed } from '../ports/media-provider.ts'

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
