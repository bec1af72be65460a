import { asksForUsage } from '../../domain/catalog/provider.ts'
import { ChatStream } from '../chat-stream/chat-stream.ts'
import { estimateInputTokens } from '../estimate-tokens.ts'
import { pricedFeaturesOf, usesGoogleTools } from '../request-features.ts'
import { MemberWalk, spliceText, type Edit } from '../json/json-text.ts'
import { type JsonDocument, findJsonObject, isJsonObject } from '../json/parse-json.ts'
import { mediaInputsOf } from '../media-inputs.ts'
import {
  answerForClient,
  moderatedTextOf,
  requestForUpstream,
  inputOf,
  promptOf,
  readNamedModel,
  type PassThroughRequest,
  reportedBy,
  type PassThroughAnswer,
} from '../pass-through.ts'
import { optionalBoolean, optionalInteger, optionalObject, requiredArray } from '../request-fields.ts'
import type { StreamDialect, UsageLimits } from '../text-dialect.ts'
import { openAiUserId } from '../user-id.ts'

/** `POST /v1/chat/completions`. */
export const chatDialect = {
  route: 'chat',
  upstreamRoute: 'chat',
  serves: 'chat',
  readRequest: readChatRequest,
  moderatedText: moderatedTextOf,
  forUpstream: (request, model, provider, row) => {
    const text = requestForUpstream(request, model)
    const asks = request.isStream && !request.includeUsage && asksForUsage(row, provider)
    return asks ? withUsageAsked(text) : text
  },
  readAnswer: readChatAnswer,
  forClient: answerForClient,
  openStream: (
    { choices, includeUsage },
    { model, limits, secrets, isUsageAsked = false, hasHeartbeats = false },
  ) =>
    // Without `include_usage`, the stream is relayed byte for byte, except for a usage that only the gateway asked for.
    new ChatStream({
      choices,
      limits,
      rewriteModel: includeUsage ? model : null,
      hidesUsage: isUsageAsked && !includeUsage,
      hasHeartbeats: includeUsage || hasHeartbeats,
      ...(secrets && { secrets }),
    }),
} as const satisfies StreamDialect<ChatRequest, ChatAnswer>

/** The fields that the gateway reads in a chat completions request. Everything else passes through. */
type ChatRequest = PassThroughRequest & {
  /** The request asks for a usage frame. Without one, a stream cannot show its cost. */
  readonly includeUsage: boolean
}

const CHOICES_MAX = 128
const POSITIVE = { min: 1, max: Number.MAX_SAFE_INTEGER }

/** The fields that the gateway reads. The description of the API has each of them. */
export const chatFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
])

/** In the order in which providers give them to the model. */
const inputFields = ['tools', 'functions', 'response_format', 'messages']

/**
 * Throws `invalid_field` or `ambiguous_field` for a field that the gateway must read and cannot. Reads no other fields.
 */
export function readChatRequest(document: JsonDocument): ChatRequest {
  const { text, value } = document
  const { model, modelMember } = readNamedModel(document, chatFields)
  requiredArray(value['messages'], 'messages')
  const streamOptions = optionalObject(value['stream_options'], 'stream_options')
  return {
    text,
    model,
    modelMember,
    userId: openAiUserId(value),
    isStream: optionalBoolean(value['stream'], 'stream') ?? false,
    includeUsage: optionalBoolean(streamOptions?.['include_usage'], 'stream_options.include_usage') ?? false,
    ...outputCeiling(value),
    choices: optionalInteger(value['n'], 'n', { min: 1, max: CHOICES_MAX }) ?? 1,
    inputTokensEstimate: estimateInputTokens(document),
    ...(usesGoogleTools(value) && { usesGoogleTools: true }),
    media: mediaInputsOf(value),
    input: () => inputOf(text, inputFields),
    prompt: () => promptOf(text, inputFields),
    pricedFeatures: () => pricedFeaturesOf(text),
  }
}

/** Providers differ in which of the two fields they use, so the worst case takes the larger. */
function outputCeiling(
  body: JsonDocument['value'],
): Pick<ChatRequest, 'outputCeiling' | 'outputCeilingField'> {
  const older = optionalInteger(body['max_tokens'], 'max_tokens', POSITIVE)
  const newer = optionalInteger(body['max_completion_tokens'], 'max_completion_tokens', POSITIVE)
  return newer !== undefined && newer > (older ?? 0)
    ? { outputCeiling: newer, outputCeilingField: 'max_completion_tokens' }
    : { outputCeiling: older, outputCeilingField: 'max_tokens' }
}

/** The members that the gateway reads in a chat completion. */
export type ChatAnswer = PassThroughAnswer & {
  /** The parsed completion, for a route that converts it. */
  readonly completion: Readonly<Record<string, unknown>>
}

/**
 * Undefined for a text that is not a chat completion, at any status: HTML, broken JSON, an object without `choices`.
 */
export function readChatAnswer(text: string, limits: UsageLimits): ChatAnswer | undefined {
  const answer = findJsonObject(text)
  const choices: unknown = answer?.['choices']
  if (answer === undefined || !Array.isArray(choices)) return undefined
  return {
    ...reportedBy(text, answer, limits),
    completion: answer,
    isEmpty: isEmptyAnswer(choices),
    texts: () => answerTexts(choices),
  }
}

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
function isEmptyAnswer(choices: readonly unknown[]): boolean {
  return !choices.some(choice => {
    if (!isJsonObject(choice)) return false
    if (cutReasons.has(choice['finish_reason'])) return true
    const message = choice['message']
    return isJsonObject(message) && contentFields.some(field => hasContent(message[field]))
  })
}

/** The texts that the model wrote: content, reasoning, refusals, and the names and arguments of calls. */
function answerTexts(choices: readonly unknown[]): string[] {
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

const OPTIONS = 'stream_options'
const ASK = '"include_usage":true'

/**
 * The text of a chat request with `stream_options.include_usage` set to true. All other bytes stay. `stream_options` is
 * an object, null or absent, and occurs once.
 */
export function withUsageAsked(text: string): string {
  for (const walk = new MemberWalk(text); walk.next();) {
    if (!walk.isNamed(OPTIONS)) continue
    const { start, end } = walk
    if (text[start] !== '{') return spliceText(text, [{ start, end, text: `{${ASK}}` }])
    return spliceText(text, optionEdits(text, start))
  }
  const at = text.indexOf('{') + 1
  // A request names its model, so another member follows.
  return spliceText(text, [{ start: at, end: at, text: `"${OPTIONS}":{${ASK}},` }])
}

/** Replaces the value in the options that begin at `start`, also if it is there more than once, or adds it. */
function optionEdits(text: string, start: number): readonly Edit[] {
  const edits: Edit[] = []
  const walk = new MemberWalk(text, start)
  let isEmpty = true
  while (walk.next()) {
    isEmpty = false
    if (walk.isNamed('include_usage')) edits.push({ start: walk.start, end: walk.end, text: 'true' })
  }
  if (edits.length > 0) return edits
  return [{ start: start + 1, end: start + 1, text: isEmpty ? ASK : `${ASK},` }]
}
