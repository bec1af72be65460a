import { findJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'

/** Undefined for a text that is not a list of embeddings, at any status. Does not read the vectors. */
export function readEmbeddingsAnswer(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const answer = findJsonObject(text)
  if (answer === undefined || !Array.isArray(answer['data'])) return undefined
  return {
    ...reportedBy(text, answer, limits),
    // Only text answers can be empty.
    isEmpty: false,
    texts: () => [],
  }
}
