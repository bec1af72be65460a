import { findJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'

/** Undefined for bytes that are no list of embeddings, whatever the status said. The vectors are not looked at. */
export function readEmbeddingsAnswer(
  bytes: Uint8Array<ArrayBuffer>,
  limits: UsageLimits,
): PassThroughAnswer | undefined {
  const answer = findJsonObject(bytes)
  if (answer === undefined || !Array.isArray(answer['data'])) return undefined
  return {
    ...reportedBy(bytes, answer['usage'], limits),
    // Only answers that a model writes can be empty.
    isEmpty: false,
    texts: () => [],
  }
}
