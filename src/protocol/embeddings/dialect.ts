import { GatewayError } from '../../domain/errors.ts'
import { estimateTokensOf, inputPartsOf } from '../estimate-tokens.ts'
import { findJsonObject, jsonObjectOf, type JsonDocument } from '../json/parse-json.ts'
import {
  answerForClient,
  promptOf,
  readNamedModel,
  reportedBy,
  requestForUpstream,
  type PassThroughAnswer,
  type PassThroughRequest,
} from '../pass-through.ts'
import { optionalBoolean, requiredTextOrArray } from '../request-fields.ts'
import type { TextDialect, UsageLimits } from '../text-dialect.ts'
import { openAiUserId } from '../user-id.ts'

/** `POST /v1/embeddings`. */
export const embeddingsDialect = {
  route: 'embeddings',
  upstreamRoute: 'embeddings',
  serves: 'embedding',
  readRequest: readEmbeddingsRequest,
  forUpstream: requestForUpstream,
  readAnswer: readEmbeddingsAnswer,
  forClient: answerForClient,
} as const satisfies TextDialect<PassThroughRequest, PassThroughAnswer>

/** The fields that the gateway reads. The description of the API has each of them. */
export const embeddingsFields: ReadonlySet<string> = new Set(['model', 'input', 'stream'])

/**
 * Reads what the gateway needs of an embeddings request. Everything else passes through. An array may contain texts,
 * tokens, arrays of tokens, or parts; the upstream checks them. Throws `invalid_field` or `ambiguous_field` for a field
 * that the gateway must read and cannot, and for `stream: true`.
 */
function readEmbeddingsRequest(document: JsonDocument): PassThroughRequest {
  const { text, value, isAscii } = document
  const { model, modelMember } = readNamedModel(document, embeddingsFields)
  const input = requiredTextOrArray(value['input'], 'input')
  if (optionalBoolean(value['stream'], 'stream') === true) {
    const message = '"stream" must be false or absent: embeddings are not streamed.'
    throw new GatewayError('invalid_field', message, { param: 'stream' })
  }
  return {
    text,
    model,
    modelMember,
    userId: openAiUserId(value),
    isStream: false,
    // Embeddings have no priced output to limit.
    outputCeiling: undefined,
    choices: 1,
    separateInputs: countInputs(input),
    inputTokensEstimate: estimateTokensOf(input, isAscii),
    // Parsed again on demand, like in `inputOf`.
    input: () => inputPartsOf(jsonObjectOf(text)['input']),
    prompt: () => promptOf(text, ['input']),
  }
}

/** A string or an array of tokens is one input. Any other array has one input in each item. */
function countInputs(input: string | readonly unknown[]): number {
  return typeof input === 'string' || typeof input[0] === 'number' ? 1 : Math.max(1, input.length)
}

/** Undefined for a text that is not a list of embeddings, at any status. Does not read the vectors. */
function readEmbeddingsAnswer(text: string, limits: UsageLimits): PassThroughAnswer | undefined {
  const answer = findJsonObject(text)
  if (answer === undefined || !Array.isArray(answer['data'])) return undefined
  return {
    ...reportedBy(text, answer, limits),
    // Only text answers can be empty.
    isEmpty: false,
    texts: () => [],
  }
}
