import { isJsonObject } from './json/parse-json.ts'
import { conversationFields } from './estimate-tokens.ts'
import { isProtocolKeyword } from './protocol-keywords.ts'

/** Fields with settings of the model or the service. The model does not read them. */
const SETTINGS: ReadonlySet<string> = new Set([
  'audio',
  'conversation',
  'include',
  'logit_bias',
  'metadata',
  'modalities',
  'model',
  'previous_response_id',
  'prompt_cache_key',
  'prompt_cache_retention',
  'reasoning',
  'reasoning_effort',
  'safety_identifier',
  'service_tier',
  'stop',
  'stream_options',
  'truncation',
  'user',
  'verbosity',
])

/**
 * Fields that the model reads before the conversation, in this order. The conversation comes last, in its own order.
 */
const FIELDS_IN_ORDER = ['system', 'instructions', 'tools', 'functions', 'response_format', 'text']

/** Members with an id, in the items of a conversation and in their parts. */
const IDS: ReadonlySet<string> = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id'])
/** An id is short and has no spaces. Any other string in its place is text. */
const ID = /^[\w.:|-]{1,128}$/
/** An item, and a part or a call in one of its lists. Deeper, a member of that name is content. */
const ID_DEPTH_MAX = 2

/** Members with media or encrypted data, in the items of a conversation at any depth. */
const PAYLOADS: ReadonlySet<string> = new Set([
  'data',
  'encrypted_content',
  'file_data',
  'image_url',
  'result',
  'url',
])
/** Base64, alone or in a data URL. The whole string must match: words after a long run of letters are text. */
const ENCODED = /^(?:data:[^,\s]{0,200},)?[\w+/=-]{1000,}$/

/**
 * The text that the model reads in the body of a chat or responses request, for a moderator: a line for each string,
 * without media. Unknown fields reach the upstream, so every field that is not a known setting counts as text.
 */
export function moderatedText(body: Readonly<Record<string, unknown>>): string {
  const texts: string[] = []
  const others = Object.keys(body).filter(
    field => !SETTINGS.has(field) && !FIELDS_IN_ORDER.includes(field) && !conversationFields.has(field),
  )
  for (const field of [...others, ...FIELDS_IN_ORDER]) collectText(body[field], texts)
  for (const field of conversationFields) collectConversation(body[field], texts)
  return texts.join('\n')
}

/** Outside a conversation, member names count as well: the model reads the names in a tool's schema. */
function collectText(root: unknown, texts: string[]): void {
  walk(root, texts, (object, _, push) => {
    for (const [key, value] of Object.entries(object).reverse()) {
      if (!isStructure(key, value)) push(value)
      if (!isProtocolKeyword(key)) push(key)
    }
  })
}

function collectConversation(root: unknown, texts: string[]): void {
  walk(root, texts, (object, depth, push) => {
    for (const [key, value] of Object.entries(object).reverse()) {
      const isName = depth <= ID_DEPTH_MAX && IDS.has(key) && matches(value, ID)
      const isPayload = PAYLOADS.has(key) && matches(value, ENCODED)
      if (!isName && !isPayload && !isStructure(key, value)) push(value)
    }
  })
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

/** Whether a member names a type or role of the format. Any other word in its place is content. */
function isStructure(key: string, value: unknown): boolean {
  return (key === 'type' || key === 'role') && typeof value === 'string' && isProtocolKeyword(value)
}

/** Pushes the values of an object to read, last first. `depth` counts objects, not lists; the outermost object is 1. */
type Visit = (
  object: Readonly<Record<string, unknown>>,
  depth: number,
  push: (value: unknown) => void,
) => void

/**
 * Collects the strings below `root` in order. Keeps its own stack, because a body may be nested deeper than the
 * runtime's.
 */
function walk(root: unknown, texts: string[], visit: Visit): void {
  const values = [root]
  const depths = [0]
  while (values.length > 0) {
    const value = values.pop()
    const depth = depths.pop() as number
    if (typeof value === 'string') {
      if (value !== '') texts.push(value)
    } else if (Array.isArray(value)) {
      // One at a time, because a list may be longer than the argument list of a call can be.
      for (let index = value.length - 1; index >= 0; index -= 1) {
        values.push(value[index])
        depths.push(depth)
      }
    } else if (isJsonObject(value)) {
      visit(value, depth + 1, inner => {
        values.push(inner)
        depths.push(depth + 1)
      })
    }
  }
}
