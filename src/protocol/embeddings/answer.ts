import { findJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'

/** Undefined for a text that is no list of embeddings, whatever the status said. The vectors are not looked at. */
export function readEmbeddingsAnswer(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const answer = findJsonObject(text)
  if (answer === undefined || !Array.isArray(answer['data'])) return undefined
  return {
    ...reportedBy(text, answer, limits),
    // Only answers that a model writes can be empty.
    isEmpty: false,
    texts: () => [],
  }
}
