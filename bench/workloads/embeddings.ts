import {
  aroundNumber,
  EMBEDDING_MODEL,
  EMBEDDING_UPSTREAM_MODEL,
  type RequestKind,
  type Workload,
} from './workload.ts'

const DIMENSIONS = 1536

const BODY: RequestKind['body'] = aroundNumber(
  JSON.stringify({
    model: EMBEDDING_MODEL,
    input: `Passage number {number}. A stream hands its lines over as they arrive, so that a file of any size can be read with \
little memory. It can break at any of them: the disk goes away, a line is longer than expected, a byte is no text. Whoever \
reads should know by then what has been done with the lines before, and be able to go on from there.`,
    encoding_format: 'base64',
  }),
)

const vector = Float32Array.from({ length: DIMENSIONS }, (_, axis) => Math.sin(axis) / 30)

const ANSWER = JSON.stringify({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: new Uint8Array(vector.buffer).toBase64() }],
  model: EMBEDDING_UPSTREAM_MODEL,
  usage: { prompt_tokens: 71, total_tokens: 71 },
})

/** One text, answered with a vector of 1,536 numbers in base64, like the official clients request it: 8 KB. */
export const embeddings: Workload = {
  name: 'embeddings',
  path: '/v1/embeddings',
  model: EMBEDDING_MODEL,
  body: BODY,
  answer: ANSWER,
}
