import { seededRandom } from './seeded-random.ts'
import { tokenize } from './tokens.ts'
import type { EmbeddingsRequest } from './wire.ts'

const DIMENSIONS = 256

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
