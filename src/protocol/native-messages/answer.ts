import { findJsonObject, isJsonObject } from '../json/parse-json.ts'
import { reportedBy, type PassThroughAnswer } from '../pass-through.ts'
import type { UsageLimits } from '../text-dialect.ts'

/** Reasons to stop that cut an answer. Such an answer does not count as empty. */
const cutReasons: ReadonlySet<unknown> = new Set([
  'max_tokens',
  'model_context_window_exceeded',
  'pause_turn',
  'refusal',
  'stop_sequence',
])

/** Undefined for a text that is not a message, at any status. */
export function readMessage(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const message = findJsonObject(text)
  const content: unknown = message?.['content']
  if (message === undefined || message['type'] !== 'message' || !Array.isArray(content)) return undefined
  return {
    ...reportedBy(text, message, limits),
    isEmpty: !cutReasons.has(message['stop_reason']) && !content.some(hasContent),
    texts: () => content.flatMap(writtenTexts),
  }
}

function hasContent(block: unknown): boolean {
  return isJsonObject(block) && (block['type'] !== 'text' || block['text'] !== '')
}

/** The texts of a block that the model wrote. The results of the provider's own tools are input. */
function writtenTexts(block: unknown): readonly string[] {
  if (!isJsonObject(block)) return []
  const { text, thinking, name, input } = block
  const texts = [text, thinking, name].filter(part => typeof part === 'string')
  return isJsonObject(input) ? [...texts, JSON.stringify(input)] : texts
}
