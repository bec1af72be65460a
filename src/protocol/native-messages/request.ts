import type { TextModel } from '../../domain/catalog/model.ts'
import { GatewayError } from '../../domain/errors.ts'
import { estimateInputTokens } from '../estimate-tokens.ts'
import { UNBOUNDED_INPUT } from '../input-parts.ts'
import { lastNamed } from '../json/members.ts'
import { isJsonObject, type JsonDocument } from '../json/parse-json.ts'
import { quotedName } from '../json/quoted-name.ts'
import { spliceText, type Edit } from '../json/splice.ts'
import { inputOf, promptOf, readNamedModel, type PassThroughRequest } from '../pass-through.ts'
import { pricedFeaturesOf } from '../priced-features.ts'
import { optionalBoolean, optionalInteger, requiredArray } from '../request-fields.ts'
import { serverToolsOf } from './server-tools.ts'

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
export function readNativeRequest(document: JsonDocument): PassThroughRequest {
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
    isStream: optionalBoolean(value['stream'], 'stream') ?? false,
    outputCeiling: optionalInteger(value['max_tokens'], 'max_tokens', POSITIVE),
    outputCeilingField: 'max_tokens',
    choices: 1,
    // A thread is a conversation that the provider has stored.
    inputTokensEstimate: isStored ? UNBOUNDED_INPUT : estimateInputTokens(document),
    ...(serverTools && { serverTools }),
    input: () => inputOf(text, inputFields),
    prompt: () => promptOf(text, inputFields),
    pricedFeatures: () => pricedFeaturesOf(text),
  }
}

/** The request's text with the upstream's name of the model and, if it has no `max_tokens`, that of the row. */
export function nativeRequestFor(request: PassThroughRequest, model: string, row: TextModel): string {
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
