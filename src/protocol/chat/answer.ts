import { findJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'
import { answerTexts, isEmptyAnswer } from './answer-content.ts'

/** What the gateway reads of a chat completion. */
export type ChatAnswer = PassThroughAnswer & {
  /** The whole completion as it was parsed, for a route that folds it into another shape. */
  readonly completion: Readonly<Record<string, unknown>>
}

/** Undefined for a text that is no chat completion, whatever the status said: HTML, broken JSON, an object without `choices`. */
export function readChatAnswer(text: string, limits: UsageLimits): ChatAnswer | undefined {
  const answer = findJsonObject(text)
  const choices: unknown = answer?.['choices']
  if (answer === undefined || !Array.isArray(choices)) return undefined
  return {
    ...reportedBy(text, answer, limits),
    completion: answer,
    isEmpty: isEmptyAnswer(choices),
    texts: () => answerTexts(choices),
  }
}
