import { isJsonObject } from '../json/parse-json.ts'

/** Members of an output item that the model wrote: names and arguments of all kinds of calls. */
const writtenFields = ['name', 'arguments', 'input', 'code']
/** Members with text parts: messages, reasoning and its summaries. */
const partsFields = ['content', 'summary']
const textFields = ['text', 'refusal', 'transcript']

/** The texts that the model wrote in a response's `output`. */
export function outputTexts(output: unknown): string[] {
  const texts: string[] = []
  for (const item of listOf(output)) {
    for (const field of writtenFields) take(item[field], texts)
    for (const field of partsFields) {
      for (const part of listOf(item[field])) for (const text of textFields) take(part[text], texts)
    }
  }
  return texts
}

function take(text: unknown, texts: string[]): void {
  if (typeof text === 'string' && text !== '') texts.push(text)
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
