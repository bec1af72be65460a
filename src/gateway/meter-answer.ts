import { NO_USAGE } from '../domain/pricing/usage.ts'
import type { TextAnswer, TextRequest } from '../protocol/text-dialect.ts'
import type { Tokenizer } from './ports/tokenizer.ts'
import type { MeteredUsage } from './quote-text.ts'

/** The usage the upstream reported or, where it reported none, the tokenizer's estimate of both texts. */
export async function meterAnswer(
  answer: TextAnswer,
  request: TextRequest,
  tokenizer: Tokenizer,
): Promise<MeteredUsage> {
  if (answer.usage !== null) {
    return { usage: answer.usage, provenance: 'reported', isClamped: answer.isClamped }
  }
  const [input, output] = await Promise.all([
    countInput(request, tokenizer),
    tokenizer.countTokens(answer.texts()),
  ])
  return { usage: { ...NO_USAGE, input, output }, provenance: 'estimated', isClamped: false }
}

/** The tokenizer's estimate of what a model was given to read. */
export async function countInput(request: TextRequest, tokenizer: Tokenizer): Promise<number> {
  const { texts, tokens } = request.input()
  return (await tokenizer.countTokens(texts)) + tokens
}
