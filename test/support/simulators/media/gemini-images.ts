import { jsonReply, type SimulatedReply } from '../simulated-reply.ts'
import type { Asked, Dialect, JobView } from './dialect.ts'
import { errorReply, fixtureOf, type ErrorFixtures } from './fixtures.ts'
import { readJson } from './read-json.ts'

const MODEL = /^\/v1beta\/models\/([^/:]+):generateContent$/
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])

const errors: ErrorFixtures = {
  invalid: [400, 'invalid-argument'],
  safety: [400, 'invalid-argument'],
  rate_limited: [429, 'quota-of-minute'],
  no_credit: [429, 'quota-of-day'],
  key_refused: [400, 'key-invalid'],
  not_found: [404, 'not-found'],
  server: [503, 'unavailable'],
}

/** The image models of the Gemini API. The answer to a request is its result. */
export const geminiImagesDialect: Dialect = {
  name: 'gemini-images',
  isSynchronous: true,

  read({ method, pathname, headers, body }) {
    const key = headers['x-goog-api-key']
    const [, model] = MODEL.exec(pathname) ?? []
    if (model !== undefined && method === 'POST') return { key, call: 'create', asked: askedOf(body, model) }
    return { key, call: 'unknown' }
  },

  created: job => generated(job),
  createdWithoutId: () => jsonReply({ modelVersion: 'gemini-2.5-flash-image' }),
  task: job => generated(job),
  error: (name, answer) => errorReply('gemini-images', errors[name], answer),
  idOf: number => `response-${number}`,
}

function generated({ id: responseId, state, outputs }: JobView): SimulatedReply {
  if (state === 'failed') return jsonReply(fixtureOf('gemini-images', 'prompt-blocked'))
  if (state === 'filtered') return jsonReply(fixtureOf('gemini-images', 'image-safety'))
  const reply = fixtureOf('gemini-images', 'image')
  if (outputs === undefined) return jsonReply({ ...reply, responseId, candidates: undefined })
  const parts = outputs.map(({ bytes = PNG }) => ({
    inlineData: { mimeType: 'image/png', data: bytes.toBase64() },
  }))
  const content = parts.length === 0 ? {} : { parts, role: 'model' }
  return jsonReply({ ...reply, responseId, candidates: [{ content, finishReason: 'STOP', index: 0 }] })
}

/** Undefined for a body without the one turn of a user that ends with a text. */
function askedOf(body: string, model: string): Asked | undefined {
  const { contents } = readJson(body) ?? {}
  const [content] = Array.isArray(contents) ? (contents as { parts?: Part[] }[]) : []
  const parts = content?.parts ?? []
  const prompt = parts.at(-1)?.text
  if (prompt === undefined) return undefined
  const inputs = parts.flatMap(({ inlineData, fileData }) =>
    inlineData === undefined ? (fileData?.fileUri ?? []) : Uint8Array.fromBase64(inlineData.data),
  )
  return { prompt, inputs, extra: { model } }
}

type Part = {
  readonly text?: string
  readonly inlineData?: { readonly data: string }
  readonly fileData?: { readonly fileUri: string }
}
