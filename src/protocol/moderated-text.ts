import { conversationFields } from './estimate-tokens.ts'
import { isJsonObject } from './json/parse-json.ts'

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

const ROLES = 'user assistant system developer tool function'
const ITEMS_AND_PARTS =
  'message text image_url image input_audio file refusal thinking tool_use tool_result input_text output_text ' +
  'input_image input_file summary_text reasoning reasoning_text function_call function_call_output item_reference ' +
  'custom custom_tool_call custom_tool_call_output local_shell_call local_shell_call_output web_search_call'
const TOOLS =
  'web_search web_search_preview file_search code_interpreter image_generation mcp namespace local_shell computer_use_preview'
const FORMATS = 'json_object json_schema format schema strict verbosity'
const MEMBERS =
  'type name description parameters arguments content role id tools input_schema properties required items enum const ' +
  'additionalProperties anyOf oneOf allOf not default title examples pattern minimum maximum minLength maxLength ' +
  'minItems maxItems uniqueItems definitions $ref $defs $schema'
const VALUES = 'string number integer boolean object array null'

const words: ReadonlySet<string> = new Set(
  [ROLES, ITEMS_AND_PARTS, TOOLS, FORMATS, MEMBERS, VALUES].join(' ').split(' '),
)

/**
 * Whether a word is a member or type name of the chat, responses and JSON Schema formats. In such a place it is
 * structure, not content.
 */
function isProtocolKeyword(text: string): boolean {
  return words.has(text)
}
