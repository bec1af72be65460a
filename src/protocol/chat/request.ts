import { estimateInputTokens } from '../estimate-tokens.ts'
import { usesGoogleTools } from '../google-tools.ts'
import type { JsonDocument } from '../json/parse-json.ts'
import { inputOf, promptOf, readNamedModel, type PassThroughRequest } from '../pass-through.ts'
import { pricedFeaturesOf } from '../priced-features.ts'
import { optionalBoolean, optionalInteger, optionalObject, requiredArray } from '../request-fields.ts'

/** The fields that the gateway reads in a chat completions request. Everything else passes through. */
export type ChatRequest = PassThroughRequest & {
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
    isStream: optionalBoolean(value['stream'], 'stream') ?? false,
    includeUsage: optionalBoolean(streamOptions?.['include_usage'], 'stream_options.include_usage') ?? false,
    ...outputCeiling(value),
    choices: optionalInteger(value['n'], 'n', { min: 1, max: CHOICES_MAX }) ?? 1,
    inputTokensEstimate: estimateInputTokens(document),
    ...(usesGoogleTools(value) && { usesGoogleTools: true }),
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
