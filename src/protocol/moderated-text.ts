import { isJsonObject } from './json/parse-json.ts'

/** Fields that reach a model as text, in chat, responses and messages requests; what was said last comes last. */
const TEXT_FIELDS = [
  'system',
  'instructions',
  'tools',
  'functions',
  'response_format',
  'text',
  'messages',
  'input',
]

/** Members whose strings belong to the wire format: nobody says them to the model. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'role',
  'type',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
])

/** Base64, alone or in a data URL, is no text. The whole string has to be: words behind a long run of letters are words. */
const ENCODED = /^(?:data:[^,\s]{0,200},)?[\w+/=-]{1000,}$/

/** What a request says to a model, for a moderator: the strings of its text, a line each, without keys and without media. */
export function moderatedText(body: Readonly<Record<string, unknown>>): string {
  const texts: string[] = []
  for (const field of TEXT_FIELDS) collect(body[field], texts)
  return texts.join('\n')
}

/** Keeps a stack of its own: a body may be nested deeper than the runtime's. */
function collect(root: unknown, texts: string[]): void {
  const stack = [root]
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value === 'string') {
      if (value !== '' && !ENCODED.test(value)) texts.push(value)
    } else if (Array.isArray(value)) pushBackwards(value, stack)
    else if (isJsonObject(value)) pushBackwards(said(value), stack)
  }
}

/** The last first, so that the stack gives the first first. One by one: a list may be longer than a call can have arguments. */
function pushBackwards(values: readonly unknown[], stack: unknown[]): void {
  for (let index = values.length - 1; index >= 0; index -= 1) stack.push(values[index])
}

function said(object: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(object)
    .filter(([key, value]) => typeof value !== 'string' || !STRUCTURE.has(key))
    .map(([, value]) => value)
}
