import { isJsonObject } from './json/parse-json.ts'
import { conversationFields } from './input-parts.ts'
import { isProtocolKeyword } from './protocol-keywords.ts'

/** Fields that set the model or the service. Nothing in them is said to the model. */
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

/** What is said first comes first, and the conversation last, in the order in which it was held. */
const FIELDS_IN_ORDER = ['system', 'instructions', 'tools', 'functions', 'response_format', 'text']

/** Members of a conversation's items and of their parts that hold a name which somebody gave a thing. */
const IDS: ReadonlySet<string> = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id'])
/** A name has no blanks and is short; words that stand where a name belongs are words. */
const ID = /^[\w.:|-]{1,128}$/
/** An item, and a part or a call in a list of it. Further in, a member of that name is what somebody said. */
const ID_DEPTH_MAX = 2

/** Members of a conversation's items, at any depth, that hold media or what only its maker can read. */
const PAYLOADS: ReadonlySet<string> = new Set([
  'data',
  'encrypted_content',
  'file_data',
  'image_url',
  'result',
  'url',
])
/** Base64, alone or in a data URL. The whole string has to be: words behind a long run of letters are words. */
const ENCODED = /^(?:data:[^,\s]{0,200},)?[\w+/=-]{1000,}$/

/**
 * What the body of a chat or responses request says to a model, for a moderator: a line for each string, without media. Since
 * what the gateway does not know passes on to the upstream, what is not known to be a setting is taken for text.
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

/** Outside a conversation the names of members are read as well: those of a tool's schema are shown to the model. */
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

/** What a thing is, in the format's own word; any other word there is somebody's. */
function isStructure(key: string, value: unknown): boolean {
  return (key === 'type' || key === 'role') && typeof value === 'string' && isProtocolKeyword(value)
}

/** Pushes what is to be read of an object, the last first. `depth` counts objects and not lists; the outermost is 1. */
type Visit = (
  object: Readonly<Record<string, unknown>>,
  depth: number,
  push: (value: unknown) => void,
) => void

/** Takes the strings below `root` in their order. Keeps a stack of its own: a body may be nested deeper than the runtime's. */
function walk(root: unknown, texts: string[], visit: Visit): void {
  const values = [root]
  const depths = [0]
  while (values.length > 0) {
    const value = values.pop()
    const depth = depths.pop() as number
    if (typeof value === 'string') {
      if (value !== '') texts.push(value)
    } else if (Array.isArray(value)) {
      // One by one: a list may be longer than a call can have arguments.
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
