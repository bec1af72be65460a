import { GatewayError } from '../../domain/errors.ts'
import { estimateTokensOf } from '../estimate-tokens.ts'
import { inputPartsOf } from '../input-parts.ts'
import { jsonObjectOf, type JsonDocument } from '../json/parse-json.ts'
import { readNamedModel, type PassThroughRequest } from '../pass-through.ts'
import { optionalBoolean, requiredTextOrArray } from '../request-fields.ts'

const fieldsRead: ReadonlySet<string> = new Set(['model', 'input', 'stream'])

/**
 * What the gateway reads of an embeddings request; everything else in it belongs to the caller. What stands in an array is
 * between the caller and the upstream: texts, tokens, arrays of tokens, or parts. Throws `invalid_field` or `ambiguous_field`
 * for what must be read and cannot be, and for a stream, of which there are none.
 */
export function readEmbeddingsRequest(document: JsonDocument): PassThroughRequest {
  const { text, value, isAscii } = document
  const { model, modelMember } = readNamedModel(document, fieldsRead)
  const input = requiredTextOrArray(value['input'], 'input')
  if (optionalBoolean(value['stream'], 'stream') === true) {
    throw new GatewayError(
      'invalid_field',
      '"stream" must be false or absent: embeddings are not streamed.',
      {
        param: 'stream',
      },
    )
  }
  return {
    text,
    model,
    modelMember,
    isStream: false,
    // Embeddings have no output that is priced, so nothing to put a ceiling on.
    outputCeiling: undefined,
    choices: 1,
    separateInputs: countInputs(input),
    inputTokensEstimate: estimateTokensOf(input, isAscii),
    // Read again when asked for: see `inputOf`.
    input: () => inputPartsOf(jsonObjectOf(text)['input']),
  }
}

/** A string is one input, and so is an array of tokens; any other array has one in each place. */
function countInputs(input: string | readonly unknown[]): number {
  return typeof input === 'string' || typeof input[0] === 'number' ? 1 : Math.max(1, input.length)
}
