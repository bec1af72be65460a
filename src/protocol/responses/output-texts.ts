import { isJsonObject } from '../json/parse-json.ts'

/** Members of an output item that a model wrote: names and arguments of calls of every kind. */
const writtenFields = ['name', 'arguments', 'input', 'code']
/** Members that hold parts with a text: what was said, and reasoning, whole or summed up. */
const partsFields = ['content', 'summary']
const textFields = ['text', 'refusal', 'transcript']

/** The texts that a model wrote, out of a response's `output`. */
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
