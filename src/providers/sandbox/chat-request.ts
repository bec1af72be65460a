import {
  invalidChoice,
  invalidField,
  optionalArray,
  optionalBoolean,
  optionalObject,
  requiredArray,
  requiredName,
  requiredText,
  requiredTextOrArray,
} from '../../protocol/request-fields.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json/parse-json.ts'
import {
  choice,
  integer,
  optionalText,
  requiredObject,
  sandboxOptions,
  typedObject,
  type SandboxOptions,
} from './wire.ts'

const CHOICES_MAX = 128

export type Message = JsonObject & {
  readonly role: string
  readonly content?: string | readonly JsonObject[] | null | undefined
}
export type Tool = {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly parameters?: unknown }
}
type ToolChoice = 'none' | 'auto' | 'required' | { readonly function: { readonly name: string } }

/** The fields of a chat request that the sandbox reads. Others are accepted and ignored. */
export type ChatRequest = {
  readonly model: string
  readonly messages: readonly Message[]
  readonly max_tokens?: number | undefined
  readonly max_completion_tokens?: number | undefined
  readonly n?: number | undefined
  readonly seed?: number | undefined
  readonly stop?: string | readonly string[] | undefined
  readonly tools?: readonly Tool[] | undefined
  readonly tool_choice?: ToolChoice | undefined
  readonly parallel_tool_calls?: boolean | undefined
  readonly response_format?: ResponseFormat | undefined
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | undefined
  readonly sandbox: SandboxOptions
}

type ResponseFormat = {
  readonly type: 'text' | 'json_object' | 'json_schema'
  readonly json_schema?: JsonObject | undefined
}

export function chatRequest(fields: JsonObject): ChatRequest {
  const { messages, tools } = fields
  const read = requiredArray(messages, 'messages').map(messageAt)
  if (read.length === 0) throw invalidField('messages', 'an array with a message', messages)
  return {
    model: requiredName(fields['model'], 'model'),
    messages: read,
    max_tokens: integer(1)(fields['max_tokens'], 'max_tokens'),
    max_completion_tokens: integer(1)(fields['max_completion_tokens'], 'max_completion_tokens'),
    n: integer(1, CHOICES_MAX)(fields['n'], 'n'),
    seed: integer(Number.MIN_SAFE_INTEGER)(fields['seed'], 'seed'),
    stop: textOrTexts(fields['stop'], 'stop'),
    tools: optionalArray(tools, 'tools')?.map(toolAt),
    tool_choice: toolChoice(fields['tool_choice']),
    parallel_tool_calls: optionalBoolean(fields['parallel_tool_calls'], 'parallel_tool_calls'),
    response_format: responseFormat(fields['response_format']),
    stream_options: streamOptions(fields['stream_options']),
    sandbox: sandboxOptions(fields['sandbox']),
  }
}

function messageAt(value: unknown, index: number): Message {
  const message = requiredObject(value, `messages.${index}`)
  const { role, content } = message
  if (Array.isArray(content))
    content.forEach((part, place) => typedObject(part, `messages.${index}.content.${place}`))
  else if (content !== undefined && content !== null)
    requiredTextOrArray(content, `messages.${index}.content`)
  return { ...message, role: requiredText(role, `messages.${index}.role`) }
}

function toolAt(value: unknown, index: number): Tool {
  const param = `tools.${index}`
  const { type, function: described } = requiredObject(value, param)
  if (type !== 'function') throw invalidChoice(`${param}.type`, ['function'], type)
  const { name, parameters } = requiredObject(described, `${param}.function`)
  return { type, function: { name: requiredText(name, `${param}.function.name`), parameters } }
}

function toolChoice(value: unknown): ToolChoice | undefined {
  if (!isJsonObject(value)) return choice(['none', 'auto', 'required'])(value, 'tool_choice')
  const { name } = requiredObject(value['function'], 'tool_choice.function')
  return { function: { name: requiredText(name, 'tool_choice.function.name') } }
}

function responseFormat(value: unknown): ResponseFormat | undefined {
  const format = optionalObject(value, 'response_format')
  if (format === undefined) return undefined
  const type = choice(['text', 'json_object', 'json_schema'])(format['type'], 'response_format.type')
  if (type === undefined) throw invalidField('response_format.type', 'a string', undefined)
  return { type, json_schema: optionalObject(format['json_schema'], 'response_format.json_schema') }
}

function streamOptions(value: unknown): ChatRequest['stream_options'] {
  const options = optionalObject(value, 'stream_options')
  if (options === undefined) return undefined
  return { include_usage: optionalBoolean(options['include_usage'], 'stream_options.include_usage') }
}

function textOrTexts(value: unknown, param: string): string | readonly string[] | undefined {
  if (!Array.isArray(value)) return optionalText(value, param)
  return value.map((text, index) => requiredText(text, `${param}.${index}`))
}
