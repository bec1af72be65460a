import { GatewayError } from '../../domain/errors.ts'
import { estimateTokensOf } from '../estimate-tokens.ts'
import { inputPartsOf } from '../input-parts.ts'
import { members } from '../json/members.ts'
import { parseJsonObject, type JsonDocument } from '../json/parse-json.ts'
import { unambiguousFields } from '../json/unambiguous-fields.ts'
import { memberNamed, type PassThroughRequest } from '../pass-through.ts'
import { optionalBoolean, requiredName, requiredTextOrArray } from '../request-fields.ts'

/** What the gateway reads of an embeddings request. Everything else in it belongs to the caller. */
export type EmbeddingsRequest = PassThroughRequest & {
  /** Tokens of the input that no text stands for: token arrays, exactly; media at a flat number each. */
  readonly inputTokensBesideTexts: number
}

const fieldsRead: ReadonlySet<string> = new Set(['model', 'input', 'stream'])

/**
 * Throws `invalid_field` or `ambiguous_field` for what the gateway must read and cannot, and for a stream, of which there
 * are none. What stands in an array is between the caller and the upstream: texts, tokens, arrays of tokens, or parts.
 */
export function readEmbeddingsRequest(document: JsonDocument): EmbeddingsRequest {
  const { bytes, value, isAscii } = document
  const found = unambiguousFields(members(bytes), fieldsRead)
  const model = requiredName(value['model'], 'model')
  const parts = inputPartsOf(requiredTextOrArray(value['input'], 'input'))
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
    bytes,
    model,
    modelMember: memberNamed(found, 'model'),
    isStream: false,
    // Embeddings have no output that is priced, so nothing to put a ceiling on.
    outputCeiling: undefined,
    choices: 1,
    inputTokensEstimate: estimateTokensOf(parts, isAscii),
    inputTokensBesideTexts: parts.tokens,
    // Read again when asked for, as a chat request's.
    texts: () => inputPartsOf(parseJsonObject(bytes).value['input']).texts,
  }
}
