import type { UsageLimits } from '../protocol/text-dialect.ts'
import type { TextJob } from './admit-text.ts'

/** What the usage of a job cannot exceed. */
export function usageLimits({ model, quote }: Pick<TextJob, 'model' | 'quote'>): UsageLimits {
  return {
    inputTokensMax: model.contextWindow,
    outputTokensMax: model.kind === 'chat' ? model.maxOutputTokens * quote.worst.choices : undefined,
  }
}
