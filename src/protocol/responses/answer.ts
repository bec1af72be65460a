import { findJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'
import { outputTexts } from './output-texts.ts'

/**
 * Reads an answer of `/v1/responses`. Undefined for a text that is not a response, at any status: HTML, broken JSON, or
 * an object that is neither named a response nor has an output.
 */
export function readResponsesAnswer(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const answer = findJsonObject(text)
  if (answer === undefined) return undefined
  const { object, output } = answer
  if (object !== 'response' && !Array.isArray(output)) return undefined
  return {
    ...reportedBy(text, answer, limits),
    // The gateway fails over for an empty chat or message, but never for a response.
    isEmpty: false,
    texts: () => outputTexts(output),
  }
}
