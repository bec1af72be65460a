import { invalidChoice } from '../request-fields.ts'
import { blocksOf, textOf } from './blocks.ts'

/** Begins the telemetry that coding agents put before their system prompt. It changes with every request. */
const TELEMETRY = 'x-anthropic-billing-header:'

/**
 * Adds the texts of a `system` field, or of a system entry among the messages: a string or text blocks. Telemetry is dropped,
 * and what is empty.
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
    const text = textOf(block, blockPath)
    if (text !== '' && !text.startsWith(TELEMETRY)) texts.push(text)
  }
}

/** A string has no blocks to tell where the telemetry ends, but a header ends with its line. */
function withoutTelemetryLine(text: string): string {
  if (!text.startsWith(TELEMETRY)) return text
  const lineEnd = text.indexOf('\n')
  return lineEnd === -1 ? '' : text.slice(lineEnd + 1)
}
