import { invalidChoice } from '../request-fields.ts'
import { blocksOf, blockText } from './blocks.ts'

/** The start of the telemetry that coding agents put before their system prompt. It changes with every request. */
const TELEMETRY = 'x-anthropic-billing-header:'

/**
 * Adds the texts of a `system` field, or of a system entry among the messages: a string or text blocks. Drops telemetry
 * and empty texts.
 */
export function addSystemTexts(texts: string[], content: unknown, path: string): void {
  if (content === undefined || content === null) return
  if (typeof content === 'string') {
    const text = withoutTelemetryLine(content)
    if (text !== '') texts.push(text)
    return
  }
  for (const [index, block] of blocksOf(content, path).entries()) {
    const blockPath = `${path}.${index}`
    if (block['type'] !== 'text') throw invalidChoice(`${blockPath}.type`, ['text'], block['type'])
    const text = blockText(block, blockPath)
    if (text !== '' && !text.startsWith(TELEMETRY)) texts.push(text)
  }
}

/** Removes telemetry from a string: it is a header, which ends with its line. */
function withoutTelemetryLine(text: string): string {
  if (!text.startsWith(TELEMETRY)) return text
  const lineEnd = text.indexOf('\n')
  return lineEnd === -1 ? '' : text.slice(lineEnd + 1)
}
