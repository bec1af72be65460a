import { GatewayError } from '../../domain/errors.ts'
import { estimateInputTokens } from '../estimate-tokens.ts'
import { UNBOUNDED_INPUT } from '../input-parts.ts'
import { isJsonObject, type JsonDocument } from '../json/parse-json.ts'
import { inputOf, readNamedModel, type PassThroughRequest } from '../pass-through.ts'
import { optionalBoolean, optionalInteger, requiredTextOrArray } from '../request-fields.ts'

const POSITIVE = { min: 1, max: Number.MAX_SAFE_INTEGER }

/** Each names what the provider has stored and puts before the input: how long that is, only the provider knows. */
const storedContextFields = ['previous_response_id', 'conversation', 'prompt']

const fieldsRead: ReadonlySet<string> = new Set([
  'model',
  'input',
  'stream',
  'max_output_tokens',
  'background',
  ...storedContextFields,
])

const inputFields = ['instructions', 'input', 'tools', 'text']

/**
 * What the gateway reads of a responses request; everything else in it belongs to the caller, items and tools of unknown types
 * too. Throws `invalid_field` or `ambiguous_field` for what it must read and cannot, and for work in the background.
 */
export function readResponsesRequest(document: JsonDocument): PassThroughRequest {
  const { text, value } = document
  const { model, modelMember } = readNamedModel(document, fieldsRead)
  const input = requiredTextOrArray(value['input'], 'input')
  if (optionalBoolean(value['background'], 'background') === true) {
    const message = '"background" must be false or absent: no route could fetch the response later.'
    throw new GatewayError('invalid_field', message, { param: 'background' })
  }
  return {
    text,
    model,
    modelMember,
    isStream: optionalBoolean(value['stream'], 'stream') ?? false,
    outputCeiling: optionalInteger(value['max_output_tokens'], 'max_output_tokens', POSITIVE),
    choices: 1,
    inputTokensEstimate: usesStoredContext(value, input) ? UNBOUNDED_INPUT : estimateInputTokens(document),
    input: () => inputOf(text, inputFields),
  }
}

function usesStoredContext(body: JsonDocument['value'], input: string | readonly unknown[]): boolean {
  return storedContextFields.some(field => (body[field] ?? null) !== null) || hasStoredItem(input)
}

/** An item that is only named: the provider has it. It may leave its type out. */
function hasStoredItem(input: string | readonly unknown[]): boolean {
  if (typeof input === 'string') return false
  return input.some(
    item =>
      isJsonObject(item) &&
      (item['type'] ?? 'item_reference') === 'item_reference' &&
      item['role'] === undefined,
  )
}
