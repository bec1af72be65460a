import { findJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'
import { answerTexts, isEmptyAnswer } from './answer-content.ts'

/** The members that the gateway reads in a chat completion. */
export type ChatAnswer = PassThroughAnswer & {
  /** The parsed completion, for a route that converts it. */
  readonly completion: Readonly<Record<string, unknown>>
}

/**
 * Undefined for a text that is not a chat completion, at any status: HTML, broken JSON, an object without `choices`.
 */
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
