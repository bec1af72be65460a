import { GatewayError } from '../../domain/errors.ts'
import { UNBOUNDED_INPUT, estimateInputTokens } from '../estimate-tokens.ts'
import { pricedFeaturesOf, usesGoogleTools } from '../request-features.ts'
import { findJsonObject, isJsonObject, type JsonDocument } from '../json/parse-json.ts'
import { mediaInputsOf } from '../media-inputs.ts'
import {
  answerForClient,
  inputOf,
  moderatedTextOf,
  promptOf,
  readNamedModel,
  reportedBy,
  requestForUpstream,
  type PassThroughAnswer,
  type PassThroughRequest,
} from '../pass-through.ts'
import { optionalBoolean, optionalInteger, requiredTextOrArray } from '../request-fields.ts'
import type { StreamDialect, UsageLimits } from '../text-dialect.ts'
import { openAiUserId } from '../user-id.ts'
import { outputTexts } from './output-texts.ts'
import { ResponsesStream } from './responses-stream.ts'

/** `POST /v1/responses`. */
export const responsesDialect = {
  route: 'responses',
  upstreamRoute: 'responses',
  serves: 'chat',
  readRequest: readResponsesRequest,
  moderatedText: moderatedTextOf,
  forUpstream: requestForUpstream,
  readAnswer: readResponsesAnswer,
  forClient: answerForClient,
  openStream: (_request, terms) => new ResponsesStream(terms),
} as const satisfies StreamDialect<PassThroughRequest, PassThroughAnswer>

const POSITIVE = { min: 1, max: Number.MAX_SAFE_INTEGER }

/** Each references content that the provider has stored and adds to the input. Only the provider knows its length. */
const storedContextFields = ['previous_response_id', 'conversation', 'prompt']

/** The fields that the gateway reads. The description of the API has each of them. */
export const responsesFields: ReadonlySet<string> = new Set([
  'model',
  'input',
  'stream',
  'max_output_tokens',
  'background',
  ...storedContextFields,
])

/** In the order in which providers give them to the model. */
const inputFields = ['tools', 'text', 'instructions', 'input']

/**
 * Reads what the gateway needs of a responses request. Everything else passes through, including items and tools of
 * unknown types. Throws `invalid_field` or `ambiguous_field` for fields that it must read and cannot, and for
 * background requests.
 */
function readResponsesRequest(document: JsonDocument): PassThroughRequest {
  const { text, value } = document
  const { model, modelMember } = readNamedModel(document, responsesFields)
  const input = requiredTextOrArray(value['input'], 'input')
  if (optionalBoolean(value['background'], 'background') === true) {
    const message = '"background" must be false or absent: background responses are not supported.'
    throw new GatewayError('invalid_field', message, { param: 'background' })
  }
  return {
    text,
    model,
    modelMember,
    userId: openAiUserId(value),
    isStream: optionalBoolean(value['stream'], 'stream') ?? false,
    outputCeiling: optionalInteger(value['max_output_tokens'], 'max_output_tokens', POSITIVE),
    outputCeilingField: 'max_output_tokens',
    choices: 1,
    inputTokensEstimate: usesStoredContext(value, input) ? UNBOUNDED_INPUT : estimateInputTokens(document),
    ...(usesGoogleTools(value) && { usesGoogleTools: true }),
    media: mediaInputsOf(value),
    input: () => inputOf(text, inputFields),
    prompt: () => promptOf(text, inputFields),
    pricedFeatures: () => pricedFeaturesOf(text),
  }
}

function usesStoredContext(body: JsonDocument['value'], input: string | readonly unknown[]): boolean {
  return storedContextFields.some(field => (body[field] ?? null) !== null) || hasStoredItem(input)
}

/** Whether the input has an item by reference, which the provider has stored. Its type may be absent. */
function hasStoredItem(input: string | readonly unknown[]): boolean {
  if (typeof input === 'string') return false
  return input.some(
    item =>
      isJsonObject(item) &&
      (item['type'] ?? 'item_reference') === 'item_reference' &&
      item['role'] === undefined,
  )
}

/**
 * Reads an answer of `/v1/responses`. Undefined for a text that is not a response, at any status: HTML, broken JSON, or
 * an object that is neither named a response nor has an output.
 */
function readResponsesAnswer(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const answer = findJsonObject(text)
  if (answer === undefined) return undefined
  const { object, output } = answer
  if (object !== 'response' && !Array.isArray(output)) return undefined
  return {
    ...reportedBy(text, answer, limits),
    // The gateway fails over for an empty chat or message, but never for a response.
    isEmpty: false,
    texts: () => outputTexts(output),
  }
}
