import type { TextModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import { UNBOUNDED_INPUT, estimateInputTokens } from '../estimate-tokens.ts'
import { lastNamed, quotedName, spliceText, type Edit } from '../json/json-text.ts'
import { findJsonObject, isJsonObject, type JsonDocument } from '../json/parse-json.ts'
import { mediaInputsOf } from '../media-inputs.ts'
import {
  answerForClient,
  inputOf,
  moderatedTextOf,
  promptOf,
  readNamedModel,
  reportedBy,
  type PassThroughAnswer,
  type PassThroughRequest,
} from '../pass-through.ts'
import { pricedFeaturesOf } from '../request-features.ts'
import { optionalBoolean, optionalInteger, requiredArray } from '../request-fields.ts'
import type { ServerTools, StreamDialect, UsageLimits } from '../text-dialect.ts'
import { anthropicUserId } from '../user-id.ts'
import { NativeMessagesStream } from './native-messages-stream.ts'

/**
 * `POST /v1/messages` for models with an upstream that offers the route itself. The body passes through, except for the
 * model's name and a missing `max_tokens`. An answer passes through with the model's name and the cost.
 */
export const nativeMessagesDialect = {
  route: 'messages',
  upstreamRoute: 'messages',
  serves: 'chat',
  readRequest: readNativeRequest,
  moderatedText: moderatedTextOf,
  forUpstream: (request, model, _provider, row) => nativeRequestFor(request, model, row),
  readAnswer: readMessage,
  forClient: answerForClient,
  openStream: (_request, terms) => new NativeMessagesStream(terms),
} as const satisfies StreamDialect<PassThroughRequest, PassThroughAnswer>

const POSITIVE = { min: 1, max: Number.MAX_SAFE_INTEGER }

/** The fields that the gateway reads. The description of the API has each of them. */
export const nativeFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'system',
  'tools',
  'mcp_servers',
  'stream',
  'speed',
  'inference_geo',
  'fallbacks',
  'thread',
])

/** In the order in which the provider gives them to the model. */
const inputFields = ['tools', 'system', 'messages']

/**
 * Reads what the gateway needs of a messages request for an upstream that offers the route itself. Everything else
 * passes through. Throws `invalid_field` or `ambiguous_field` for fields that it must read and cannot, and
 * `unpriced_feature` for features that no row can price.
 */
function readNativeRequest(document: JsonDocument): PassThroughRequest {
  const { text, value } = document
  const { model, modelMember } = readNamedModel(document, nativeFields)
  requiredArray(value['messages'], 'messages')
  refuseUnpriced(value)
  const isStored = (value['thread'] ?? null) !== null
  const serverTools = serverToolsOf(value)
  return {
    text,
    model,
    modelMember,
    userId: anthropicUserId(value),
    isStream: optionalBoolean(value['stream'], 'stream') ?? false,
    outputCeiling: optionalInteger(value['max_tokens'], 'max_tokens', POSITIVE),
    outputCeilingField: 'max_tokens',
    choices: 1,
    // A thread is a conversation that the provider has stored.
    inputTokensEstimate: isStored ? UNBOUNDED_INPUT : estimateInputTokens(document),
    ...(serverTools && { serverTools }),
    media: mediaInputsOf(value),
    input: () => inputOf(text, inputFields),
    prompt: () => promptOf(text, inputFields),
    pricedFeatures: () => pricedFeaturesOf(text),
  }
}

/** The request's text with the upstream's name of the model and, if it has no `max_tokens`, that of the row. */
function nativeRequestFor(request: PassThroughRequest, model: string, row: TextModel): string {
  const { text, model: asked, modelMember, outputCeiling } = request
  const edits: Edit[] = []
  if (asked !== model) edits.push({ ...placeOf(modelMember), text: quotedName(model) })
  if (outputCeiling === undefined && row.kind === 'chat') edits.push(ceilingEdit(text, row.maxOutputTokens))
  edits.sort((left, right) => left.start - right.start)
  return spliceText(text, edits)
}

/** Providers require `max_tokens`. A value of null counts as absent. */
function ceilingEdit(text: string, tokens: number): Edit {
  const absent = lastNamed(text, 'max_tokens')
  if (absent !== undefined) return { ...placeOf(absent), text: String(tokens) }
  const start = text.indexOf('{') + 1
  return { start, end: start, text: `"max_tokens":${tokens},` }
}

function placeOf({ start, end }: { readonly start: number; readonly end: number }) {
  return { start, end }
}

/** Fields that change the provider's prices, with the values for which the prices of a row are right. */
const pricedValues: Readonly<Record<string, string>> = { speed: 'standard', inference_geo: 'global' }

/** Another speed costs several times as much, and another place of inference a tenth more. No row prices them. */
function refuseUnpriced(value: Readonly<Record<string, unknown>>): void {
  for (const [field, priced] of Object.entries(pricedValues)) {
    const asked = value[field]
    if (asked === undefined || asked === null || asked === priced) continue
    const message = `"${field}" must be "${priced}" or absent: other values have no price.`
    throw new GatewayError('unpriced_feature', message, { param: field })
  }
  refuseOtherModels(value)
}

const ADVISOR = /^advisor_\d{8}$/

/** Models that the provider calls beside the one of the row. They can cost more, and the row has no price for them. */
function refuseOtherModels({ fallbacks, tools }: Readonly<Record<string, unknown>>): void {
  const hasFallbacks = Array.isArray(fallbacks) ? fallbacks.length > 0 : (fallbacks ?? null) !== null
  if (hasFallbacks) {
    const message = '"fallbacks" names other models, and this model has no price for them. Leave it out.'
    throw new GatewayError('unpriced_feature', message, { param: 'fallbacks' })
  }
  for (const [index, tool] of Array.isArray(tools) ? tools.entries() : []) {
    if (!isJsonObject(tool) || typeof tool['type'] !== 'string' || !ADVISOR.test(tool['type'])) continue
    const message = 'An advisor is another model, and this model has no price for it. Leave the tool out.'
    throw new GatewayError('unpriced_feature', message, { param: `tools[${index}].type` })
  }
}

/** Held for a tool without `max_uses`. A long research turn needs about this many. */
const ORDINARY_USES = 10

/** Types whose tools the client runs itself, without their dates. */
const clientTypes = [
  'custom',
  'bash',
  'text_editor',
  'computer',
  'computer_toolset',
  'browser_toolset',
  'memory',
]
/** Types that only search the request's own list of tools, which costs nothing. */
const searchTypes = ['tool_search_tool_regex', 'tool_search_tool_bm25']
const ownTypes: ReadonlySet<string> = new Set([...clientTypes, ...searchTypes])

/** `web_search_20250305` is the type `web_search` and the date of its version. */
const DATE = /_\d{8}$/

/**
 * The tools of a messages request that run on the provider's servers. A tool of an unknown type counts as one, because
 * the provider may charge for it. Undefined if there is none.
 */
export function serverToolsOf({
  tools,
  mcp_servers: mcpServers,
}: Readonly<Record<string, unknown>>): ServerTools | undefined {
  let name: string | undefined
  let usesMax = 0
  let isLimited = true
  for (const tool of Array.isArray(tools) ? tools : []) {
    if (!isJsonObject(tool)) continue
    const { type, name: given, max_uses: limit } = tool
    if (typeof type !== 'string' || ownTypes.has(type.replace(DATE, ''))) continue
    name ??= typeof given === 'string' ? given : type
    const isCount = Number.isSafeInteger(limit) && (limit as number) >= 0
    usesMax += isCount ? (limit as number) : ORDINARY_USES
    isLimited &&= isCount
  }
  if (name === undefined && Array.isArray(mcpServers) && mcpServers.length > 0)
    return { name: 'mcp_servers', usesMax: ORDINARY_USES, isLimited: false }
  return name === undefined ? undefined : { name, usesMax, isLimited }
}

/** Reasons to stop that cut an answer. Such an answer does not count as empty. */
const cutReasons: ReadonlySet<unknown> = new Set([
  'max_tokens',
  'model_context_window_exceeded',
  'pause_turn',
  'refusal',
  'stop_sequence',
])

/** Undefined for a text that is not a message, at any status. */
function readMessage(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const message = findJsonObject(text)
  const content: unknown = message?.['content']
  if (message === undefined || message['type'] !== 'message' || !Array.isArray(content)) return undefined
  return {
    ...reportedBy(text, message, limits),
    isEmpty: !cutReasons.has(message['stop_reason']) && !content.some(hasContent),
    texts: () => content.flatMap(writtenTexts),
  }
}

function hasContent(block: unknown): boolean {
  return isJsonObject(block) && (block['type'] !== 'text' || block['text'] !== '')
}

/** The texts of a block that the model wrote. The results of the provider's own tools are input. */
function writtenTexts(block: unknown): readonly string[] {
  if (!isJsonObject(block)) return []
  const { text, thinking, name, input } = block
  const texts = [text, thinking, name].filter(part => typeof part === 'string')
  return isJsonObject(input) ? [...texts, JSON.stringify(input)] : texts
}
