import type { NanoUsd } from '../../domain/money.ts'
import { findJsonObject } from '../json/parse-json.ts'
import { withModelAndCost, type ReplyObject } from '../reply-edits.ts'
import { findReportedCost } from '../reported-cost.ts'
import type { TextAnswer, UsageLimits } from '../text-dialect.ts'
import { readUsage } from '../usage.ts'
import { answerTexts, isEmptyAnswer } from './answer-content.ts'

/** What the gateway reads of a chat completion. */
export type ChatAnswer = TextAnswer & {
  readonly reply: ReplyObject
  /** The whole completion as it was parsed, for a route that folds it into another shape. */
  readonly completion: Readonly<Record<string, unknown>>
}

/** Undefined for bytes that are no chat completion, whatever the status said: HTML, broken JSON, an object without `choices`. */
export function readChatAnswer(bytes: Uint8Array<ArrayBuffer>, limits: UsageLimits): ChatAnswer | undefined {
  const answer = findJsonObject(bytes)
  const choices: unknown = answer?.['choices']
  if (answer === undefined || !Array.isArray(choices)) return undefined
  const usage: unknown = answer['usage']
  const reported = readUsage(usage, limits)
  return {
    reply: { bytes, usage },
    completion: answer,
    usage: reported?.usage ?? null,
    isClamped: reported?.isClamped ?? false,
    reportedCost: findReportedCost(bytes, usage),
    isEmpty: isEmptyAnswer(choices),
    texts: () => answerTexts(choices),
  }
}

/** The answer's own bytes with the logical model name and, where it is known, the cost. */
export function chatAnswerForClient(
  answer: ChatAnswer,
  named: { readonly model: string; readonly cost: NanoUsd | null },
): Uint8Array<ArrayBuffer> {
  return withModelAndCost(answer.reply, named)
}
