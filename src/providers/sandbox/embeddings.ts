import { invalidField, requiredName } from '../../protocol/request-fields.ts'
import { tokenize } from './sandbox-text.ts'
import { seededRandom } from './seeded-random.ts'
import { choice, integer, sandboxOptions, type SandboxOptions } from './wire.ts'
import type { JsonObject } from '../../protocol/json/parse-json.ts'

const DIMENSIONS = 256
const DIMENSIONS_MAX = 4096

type EmbeddingsRequest = {
  readonly model: string
  readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  readonly dimensions?: number | undefined
  readonly encoding_format?: 'float' | 'base64' | undefined
  readonly sandbox: SandboxOptions
}

export function embeddingsRequest(fields: JsonObject): EmbeddingsRequest {
  return {
    model: requiredName(fields['model'], 'model'),
    input: embeddingsInput(fields['input']),
    dimensions: integer(1, DIMENSIONS_MAX)(fields['dimensions'], 'dimensions'),
    encoding_format: choice(['float', 'base64'])(fields['encoding_format'], 'encoding_format'),
    sandbox: sandboxOptions(fields['sandbox']),
  }
}

function embeddingsInput(value: unknown): EmbeddingsRequest['input'] {
  const isToken = (item: unknown) => Number.isInteger(item) && (item as number) >= 0
  const isTokens = (item: unknown) => Array.isArray(item) && item.every(isToken)
  const isKnown =
    typeof value === 'string' ||
    (Array.isArray(value) &&
      (value.every(item => typeof item === 'string') || isTokens(value) || value.every(isTokens)))
  if (isKnown) return value as EmbeddingsRequest['input']
  throw invalidField('input', 'a string, an array of strings, or tokens', value)
}

/**
 * Unit vectors, the same for the same text. Each token has its own direction, and a text has the sum of the directions
 * of its tokens, so texts with common words are close to each other.
 */
export function embeddingsJson(request: EmbeddingsRequest): unknown {
  const inputs = inputsOf(request.input)
  const dimensions = request.dimensions ?? DIMENSIONS
  const tokens = inputs.reduce((total, input) => total + input.length, 0)
  return {
    object: 'list',
    model: request.model,
    data: inputs.map((input, index) => {
      const vector = unitVector(input, dimensions)
      const embedding = request.encoding_format === 'base64' ? base64Of(vector) : [...vector]
      return { object: 'embedding', index, embedding }
    }),
    usage: request.sandbox.usage ?? { prompt_tokens: tokens, total_tokens: tokens },
  }
}

/** The tokens of each input. Token ids of the client are tokens as they are. */
function inputsOf(input: EmbeddingsRequest['input']): readonly (readonly string[])[] {
  if (typeof input === 'string') return [tokenize(input)]
  if (input.every(entry => typeof entry === 'number')) return [input.map(String)]
  return input.map(entry => (typeof entry === 'string' ? tokenize(entry) : [entry].flat().map(String)))
}

function unitVector(tokens: readonly string[], dimensions: number): Float32Array<ArrayBuffer> {
  const sum = new Float64Array(dimensions)
  // The empty text has a direction too, because a vector of length 0 cannot be normalized.
  for (const token of tokens.length === 0 ? [''] : tokens) {
    const random = seededRandom(token.trim().toLowerCase())
    for (let axis = 0; axis < dimensions; axis += 1) sum[axis] = (sum[axis] ?? 0) + random() - 0.5
  }
  const length = Math.hypot(...sum)
  return new Float32Array(sum.map(value => value / length))
}

/** Little-endian 32-bit floats, which OpenAI's clients decode. */
function base64Of(vector: Float32Array<ArrayBuffer>): string {
  return new Uint8Array(vector.buffer).toBase64()
}
