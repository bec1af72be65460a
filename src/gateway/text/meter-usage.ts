import type { NanoUsd } from '../../domain/money.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import { parseReportedCost } from '../../protocol/reported-cost.ts'
import type { AdmittedRequest } from './admit-text.ts'
import type { Tokenizer } from '../ports/tokenizer.ts'
import type { MeteredUsage } from './quote-text.ts'
import { usageLimits } from './usage-limits.ts'

/** What an answer or a stream says of itself. */
export type Produced = Pick<MeteredUsage, 'isClamped'> & {
  readonly usage: MeteredUsage['usage'] | null
  texts(): readonly string[]
  /** The texts are this part of what was produced; absent where they are all of it. */
  readonly textsScale?: number
}

/**
 * The usage the upstream reported or, where it reported none, the tokenizer's estimate of what the model read and wrote: at
 * most the worst case that the request was admitted with, and no more output than a report would be believed. A promise only for
 * the estimate.
 */
export function meterUsage(
  produced: Produced,
  job: Pick<AdmittedRequest, 'request' | 'quote' | 'model'>,
  tokenizer: Tokenizer,
): MeteredUsage | Promise<MeteredUsage> {
  const { usage, isClamped } = produced
  if (usage !== null) return { usage, provenance: 'reported', isClamped }
  return estimateUsage(produced, job, tokenizer)
}

async function estimateUsage(
  produced: Produced,
  job: Pick<AdmittedRequest, 'request' | 'quote' | 'model'>,
  tokenizer: Tokenizer,
): Promise<MeteredUsage> {
  const { texts, tokens } = job.request.input()
  // A row without a maximum of its output, such as an embedding, has none.
  const { outputTokensMax = 0 } = usageLimits(job)
  const [read, written] = await Promise.all([
    tokenizer.countTokens(texts),
    tokenizer.countTokens(produced.texts()),
  ])
  const input = Math.min(read + tokens, job.quote.worst.inputTokens)
  const output = Math.min(Math.ceil(written * (produced.textsScale ?? 1)), outputTokensMax)
  return { usage: { ...NO_USAGE, input, output }, provenance: 'estimated', isClamped: false }
}

/**
 * What the upstream says it costs the operator; null where it does not. The provider's configured header first: where an operator
 * set one, it is what the provider is paid by.
 */
export function reportedCostOf(
  produced: { readonly reportedCost: NanoUsd | null },
  header: string | null,
): NanoUsd | null {
  const inHeader = header === null ? undefined : parseReportedCost(header)
  return inHeader ?? produced.reportedCost
}
