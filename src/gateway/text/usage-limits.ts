import type { WorstCase } from '../../domain/pricing/worst-case.ts'
import type { UsageLimits } from '../../protocol/text-dialect.ts'
import type { AdmittedRequest } from './admit-text.ts'

/**
 * What the usage of a job cannot exceed. Output stops at the ceiling the request was admitted with: an upstream that ignores
 * it is not the customer's to pay for, and only input, which is estimated, may take a charge beyond its hold.
 *
 * A row without a context window bounds its input only where no count can be right. The request's own length is no bound: pages
 * of a document, what a provider has stored, and what its own tools look up on the way are read by the model and billed as well.
 */
export function usageLimits({ model, quote }: Pick<AdmittedRequest, 'model' | 'quote'>): UsageLimits {
  return {
    inputTokensMax: quote.inputTokensMax,
    outputTokensMax: model.kind === 'chat' ? outputMax(model.maxOutputTokens, quote.worst) : undefined,
  }
}

function outputMax(maxOutputTokens: number, { outputTokens, choices }: WorstCase): number {
  return Math.min(maxOutputTokens, outputTokens) * choices
}
