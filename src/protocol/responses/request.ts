import { GatewayError } from '../../domain/errors.ts'
import { estimateInputTokens } from '../estimate-tokens.ts'
import { inputParts } from '../input-parts.ts'
import { lastNamed, type Member } from '../json/members.ts'
import { parseJsonObject, type JsonDocument } from '../json/parse-json.ts'
import { unambiguousFields } from '../json/unambiguous-fields.ts'
import type { PassThroughRequest } from '../pass-through.ts'
import { optionalBoolean, optionalInteger, requiredName, requiredTextOrArray } from '../request-fields.ts'

const POSITIVE = { min: 1, max: Number.MAX_SAFE_INTEGER }

const fieldsRead: ReadonlySet<string> = new Set([
  'model',
  'input',
  'stream',
  'max_output_tokens',
  'background',
])

const inputFields = ['instructions', 'input', 'tools', 'text']

/**
 * What the gateway reads of a responses request; everything else in it belongs to the caller, items and tools of unknown types
 * too. Throws `invalid_field` or `ambiguous_field` for what it must read and cannot, and for work in the background.
 */
export function readResponsesRequest(document: JsonDocument): PassThroughRequest {
  const { bytes, value } = document
  const found = unambiguousFields(document, fieldsRead)
  const model = requiredName(value['model'], 'model')
  requiredTextOrArray(value['input'], 'input')
  if (optionalBoolean(value['background'], 'background') === true) {
    const message = '"background" must be false or absent: no route could fetch the response later.'
    throw new GatewayError('invalid_field', message, { param: 'background' })
  }
  return {
    bytes,
    model,
    modelMember: lastNamed(bytes, found, 'model') as Member,
    isStream: optionalBoolean(value['stream'], 'stream') ?? false,
    outputCeiling: optionalInteger(value['max_output_tokens'], 'max_output_tokens', POSITIVE),
    choices: 1,
    inputTokensEstimate: estimateInputTokens(document),
    // Read again when asked for, as a chat request's.
    input: () => inputParts(parseJsonObject(bytes).value, inputFields),
  }
}
