import { findJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'
import { outputTexts } from './output-texts.ts'

/**
 * Undefined for a text that is no response, whatever the status said: HTML, broken JSON, an object that neither calls itself a
 * response nor has an output.
 */
export function readResponsesAnswer(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const answer = findJsonObject(text)
  if (answer === undefined) return undefined
  const { object, output } = answer
  if (object !== 'response' && !Array.isArray(output)) return undefined
  return {
    ...reportedBy(text, answer, limits),
    // Another upstream is tried for an empty chat or message, never for a response.
    isEmpty: false,
    texts: () => outputTexts(output),
  }
}
