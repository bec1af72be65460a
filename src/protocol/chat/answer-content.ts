import { isJsonObject } from '../json/parse-json.ts'

/** Members of a message with a model's output, by all the names that providers use. */
const contentFields = [
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'reasoning_text',
  'thinking',
  'thinking_blocks',
  'audio',
  'images',
]

/**
 * Finish reasons of an answer that was cut by its output ceiling or by policy. Such an answer does not count as empty.
 */
const cutReasons: ReadonlySet<unknown> = new Set(['length', 'max_tokens', 'content_filter', 'safety'])

/** True when no choice has text, reasoning, a refusal, a tool call or media, and none was cut short. */
export function isEmptyAnswer(choices: readonly unknown[]): boolean {
  return !choices.some(choice => {
    if (!isJsonObject(choice)) return false
    if (cutReasons.has(choice['finish_reason'])) return true
    const message = choice['message']
    return isJsonObject(message) && contentFields.some(field => hasContent(message[field]))
  })
}

/** The texts that the model wrote: content, reasoning, refusals, and the names and arguments of calls. */
export function answerTexts(choices: readonly unknown[]): string[] {
  const texts: string[] = []
  const take = (text: unknown) => {
    if (typeof text === 'string') texts.push(text)
  }
  for (const choice of choices) {
    const message = memberOf(choice, 'message')
    const content = memberOf(message, 'content')
    take(content)
    for (const part of listOf(content)) take(memberOf(part, 'text'))
    take(memberOf(message, 'reasoning_content') ?? memberOf(message, 'reasoning'))
    take(memberOf(message, 'refusal'))
    const calls = listOf(memberOf(message, 'tool_calls')).map(call => memberOf(call, 'function'))
    for (const call of [...calls, memberOf(message, 'function_call')]) {
      take(memberOf(call, 'name'))
      take(memberOf(call, 'arguments'))
    }
  }
  return texts
}

/** Whether a member has content. A list has content if one of its items has; a text part, if its text has. */
function hasContent(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  if (Array.isArray(value)) return value.some(hasContent)
  if (!isJsonObject(value)) return false
  return value['type'] === 'text' ? hasContent(value['text']) : Object.keys(value).length > 0
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
