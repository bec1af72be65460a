import type { Provider } from '../../domain/catalog/provider.ts'
import { GatewayError } from '../../domain/errors.ts'
import { estimateInputTokens } from '../estimate-tokens.ts'
import { MemberWalk, quotedName, spliceText, type Edit } from '../json/json-text.ts'
import { isJsonObject, type JsonDocument } from '../json/parse-json.ts'
import { mediaInputsOf, withNotes, type MediaKind } from '../media-inputs.ts'
import { inputOf, promptOf } from '../pass-through.ts'
import {
  invalidChoice,
  invalidField,
  optionalArray,
  optionalBoolean,
  optionalInteger,
  optionalObject,
  requiredName,
  requiredText,
  unambiguousFields,
} from '../request-fields.ts'
import type { TextRequest } from '../text-dialect.ts'
import { anthropicUserId } from '../user-id.ts'
import { assertMaxDepth } from './assert-max-depth.ts'
import type { ChatBody } from './chat-body.ts'
import { conversationOf } from './conversation.ts'
import { functionToolsOf, toolChoiceOf } from './tools.ts'

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

/** A messages request. Only what is in it reaches an upstream. */
export type MessagesRequest = TextRequest & {
  /**
   * The chat request without the parts that depend on the upstream: the model's name, and the field for the output
   * ceiling.
   */
  readonly chatJson: string
}

const NONE: ReadonlySet<MediaKind> = new Set()
const POSITIVE = { min: 1, max: Number.MAX_SAFE_INTEGER }

/** The fields that the gateway reads. The description of the API has each of them. */
export const messagesFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'system',
  'tools',
  'tool_choice',
  'stream',
  'temperature',
  'top_p',
  'metadata',
  'stop_sequences',
  'output_config',
  'thread',
])

/** How a conversion differs from that of the contract. */
export type ConversionOptions = {
  /** The kinds of media that are replaced by a text. */
  readonly noted?: ReadonlySet<MediaKind>
  /** Carries `output_config.format`, which is otherwise dropped. */
  readonly carriesFormat?: boolean
}

/** Fields with the same meaning in chat. The upstream checks their values. */
const sameInChat = ['temperature', 'top_p', 'metadata'] as const

/** The fields of the chat request that the model reads, in the order in which providers give them to it. */
const inputFields = ['tools', 'response_format', 'messages']

/**
 * Converts a messages request to chat. Throws `invalid_field` or `ambiguous_field` with the path of a field that cannot
 * be converted. Fields without an equivalent in chat, and unknown members of known blocks, are dropped.
 */
export function readMessagesRequest(
  document: JsonDocument,
  options: ConversionOptions = {},
): MessagesRequest {
  const { value } = document
  const { depth } = unambiguousFields(document, messagesFields, 'model')
  assertMaxDepth(depth)
  const model = requiredName(value['model'], 'model')
  const outputCeiling = optionalInteger(value['max_tokens'], 'max_tokens', POSITIVE)
  const isStream = optionalBoolean(value['stream'], 'stream') ?? false
  const chat = readChatBody(document, options)
  const chatJson = JSON.stringify(chat)
  return {
    model,
    userId: anthropicUserId(value),
    isStream,
    outputCeiling,
    outputCeilingField: 'max_tokens',
    choices: 1,
    inputTokensEstimate: estimateInputTokens({ value: chat, isAscii: document.isAscii }),
    chatJson,
    media: mediaInputsOf(value, options.noted),
    input: () => inputOf(chatJson, inputFields),
    prompt: () => promptOf(chatJson, inputFields),
  }
}

/**
 * The body of the chat request for an upstream. The output ceiling, if there is one, has the field name that the
 * provider expects. The upstream is never asked to stream: the events are made from its finished answer.
 */
export function chatRequestOf(
  { chatJson, outputCeiling }: MessagesRequest,
  {
    model,
    maxTokensField,
    omitFields,
  }: Pick<Provider, 'maxTokensField'> & {
    readonly model: string
    readonly omitFields?: Provider['omitFields'] | undefined
  },
): string {
  const ceiling = outputCeiling === undefined ? '' : `"${maxTokensField}":${outputCeiling},`
  return `{"model":${quotedName(model)},${ceiling}${without(chatJson, omitFields).slice(1)}`
}

/** The request's text without fields that the provider does not know. */
function without(chatJson: string, fields: readonly string[] | undefined): string {
  if (fields === undefined) return chatJson
  const edits: Edit[] = []
  const walk = new MemberWalk(chatJson)
  for (let at = 1; walk.next(); at = walk.end) {
    // The messages come first, so that a comma is before every other member.
    if (fields.some(field => walk.isNamed(field))) edits.push({ start: at, end: walk.end, text: '' })
  }
  return spliceText(chatJson, edits)
}

/** The part of the request that chat supports. Call `assertMaxDepth` first. */
export function readChatBody(
  { text, value }: JsonDocument,
  { noted = NONE, carriesFormat = false }: ConversionOptions = {},
): ChatBody {
  refuseThread(value['thread'])
  const convert = (body: JsonDocument['value']) => {
    const chat = chatBodyOf(withNotes(body, noted))
    const format = carriesFormat ? responseFormatOf(body['output_config']) : undefined
    return format === undefined ? chat : { ...chat, response_format: format }
  }
  const chat = convert(value)
  return isInexact(chat) ? convert(parseExactly(text)) : chat
}

/**
 * A thread is a conversation that the server stores. A client with one sends only new messages, and the model would
 * answer those alone. Clients that get this code send the whole conversation again.
 */
function refuseThread(thread: unknown): void {
  if (thread === undefined || thread === null) return
  const message = '"thread" is not supported: leave it out, and send all messages with each request.'
  throw new GatewayError('thread_unsupported_request', message, { param: 'thread' })
}

function chatBodyOf(body: JsonDocument['value']): ChatBody {
  const chat: Mutable<ChatBody> = { messages: conversationOf(body['system'], body['messages']) }
  const tools = functionToolsOf(body['tools'])
  const { choice, isParallel } = toolChoiceOf(body['tool_choice'], tools)
  const stop = stopOf(body['stop_sequences'])
  // Upstreams reject any choice without tools. Without tools, these two choices have no effect.
  const isIdle =
    tools === undefined && Array.isArray(body['tools']) && (choice === 'auto' || choice === 'none')
  if (tools !== undefined) chat.tools = tools
  if (choice !== undefined && !isIdle) chat.tool_choice = choice
  // Without tools, upstreams reject it.
  if (tools !== undefined && !isParallel) chat.parallel_tool_calls = false
  if (stop !== undefined) chat.stop = stop
  for (const field of sameInChat) {
    const value = body[field]
    if (value !== undefined && value !== null) chat[field] = value
  }
  return chat
}

/** The format of the output, as chat has it. Throws `invalid_field` for a format that chat cannot express. */
function responseFormatOf(given: unknown): ChatBody['response_format'] {
  const config = optionalObject(given, 'output_config')
  const format = optionalObject(config?.['format'], 'output_config.format')
  if (format === undefined) return undefined
  if (format['type'] !== 'json_schema')
    throw invalidChoice('output_config.format.type', ['json_schema'], format['type'])
  const schema = format['schema']
  if (!isJsonObject(schema)) throw invalidField('output_config.format.schema', 'an object', schema)
  return { type: 'json_schema', json_schema: { name: 'output', schema, strict: true } }
}

function stopOf(sequences: unknown): readonly string[] | undefined {
  const stop = optionalArray(sequences, 'stop_sequences')
  if (stop === undefined || stop.length === 0) return undefined
  return stop.map((text, index) => requiredText(text, `stop_sequences.${index}`))
}

/** Checks only the inputs of calls, which may contain long ids. The schemas of tools have no numbers that long. */
function isInexact({ messages }: ChatBody): boolean {
  for (const message of messages) {
    if (message.role !== 'assistant' || message.tool_calls === undefined) continue
    for (const call of message.tool_calls) if (mayBeInexact(call.function.arguments)) return true
  }
  return false
}

/** Digits that may not fit in a double, or a number that JSON.stringify would write differently. */
const INEXACT = /\d{16}|\de[+-]/

/**
 * A cheap check whether parsing may have changed a number in the value that this JSON was written from. May be true in
 * vain.
 */
function mayBeInexact(json: string): boolean {
  return INEXACT.test(json)
}

/**
 * Like JSON.parse, but keeps the digits of a number that a double would change, such as a 64-bit id, so that
 * JSON.stringify writes them again. Much slower. The text must be one that JSON.parse accepts.
 */
function parseExactly(text: string): Readonly<Record<string, unknown>> {
  const keepDigits = (_key: string, value: unknown, { source }: { readonly source?: string }) => {
    if (typeof value !== 'number' || source === undefined) return value
    if (Number.isSafeInteger(value) || String(value) === source) return value
    return rawJson(source)
  }
  // The type library has neither the third argument of a reviver nor `rawJSON` yet.
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown)
}

const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => object }
