import { jsonReply, type SimulatedReply } from '../simulated-reply.ts'
import { readJson } from './read-json.ts'
import type { ErrorAnswer, ErrorName } from './behaviors.ts'
import type { Asked, Dialect, DialectContext, JobView, OutputView } from './dialect.ts'

const MODEL = /^\/v1beta\/models\/([^/:]+):predictLongRunning$/
const OPERATION = /^\/v1beta\/(.+\/operations\/.+)$/
const FILE = /^\/v1beta\/files\/([^/:]+):download$/

const errors: Readonly<
  Record<ErrorName, { readonly status: number; readonly code: string; readonly details?: readonly object[] }>
> = {
  invalid: { status: 400, code: 'INVALID_ARGUMENT' },
  safety: { status: 400, code: 'INVALID_ARGUMENT' },
  rate_limited: { status: 429, code: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '7s' }] },
  no_credit: {
    status: 429,
    code: 'RESOURCE_EXHAUSTED',
    details: [{ violations: [{ quotaId: 'RequestsPerDayPerProject' }] }],
  },
  key_refused: { status: 400, code: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] },
  not_found: { status: 404, code: 'NOT_FOUND' },
  server: { status: 503, code: 'UNAVAILABLE' },
}

/** Veo in the Gemini API, as far as the gateway uses it. */
export const veoDialect: Dialect = {
  name: 'veo',

  read({ method, pathname, query, headers, body }) {
    const key = headers['x-goog-api-key']
    const [, model] = MODEL.exec(pathname) ?? []
    if (model !== undefined && method === 'POST') return { key, call: 'create', asked: askedOf(body, model) }
    const [, operation] = OPERATION.exec(pathname) ?? []
    if (operation !== undefined && method === 'GET')
      return { key, call: 'query', id: decodeURIComponent(operation) }
    const [, file] = FILE.exec(pathname) ?? []
    // Without `alt=media`, the API describes the file.
    if (file !== undefined && query.get('alt') === 'media') return { key, call: 'file', file }
    if (pathname === '/v1beta/models') return { key, call: 'other', reply: jsonReply({ models: [] }) }
    return { key, call: 'unknown' }
  },

  created: ({ id }) => jsonReply({ name: id }),
  createdWithoutId: () => jsonReply({}),
  task: (job, context) => jsonReply(operationOf(job, context)),

  error(name: ErrorName, { status = errors[name].status, retryAfterS }: ErrorAnswer): SimulatedReply {
    const { code, details = [] } = errors[name]
    const wait: Readonly<Record<string, string>> =
      retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
    return jsonReply(
      { error: { code: status, message: `Simulated ${name}`, status: code, details } },
      status,
      wait,
    )
  },

  idOf: number => `models/veo-simulated/operations/${number.toString(36).padStart(12, '0')}`,
}

function askedOf(body: string, model: string): Asked | undefined {
  const { instances, parameters } = readJson(body) ?? {}
  const [instance] = Array.isArray(instances) ? (instances as Record<string, unknown>[]) : []
  const { durationSeconds } = (parameters ?? {}) as Record<string, unknown>
  if (typeof instance?.['prompt'] !== 'string') return undefined
  if (durationSeconds !== undefined && typeof durationSeconds !== 'number') return undefined
  return {
    prompt: instance['prompt'],
    inputs: inputsOf(instance),
    extra: { model },
    ...(durationSeconds === undefined ? {} : { durationMs: durationSeconds * 1000 }),
  }
}

function inputsOf({ image, lastFrame, referenceImages = [], video }: Record<string, unknown>): Inputs {
  const references = (referenceImages as { image: unknown }[]).map(({ image }) => image)
  return [image, lastFrame, ...references, video].flatMap((input): Inputs => {
    const { bytesBase64Encoded, encodedVideo, uri } = (input ?? {}) as Record<string, string | undefined>
    const base64 = bytesBase64Encoded ?? encodedVideo
    if (base64 !== undefined) return [Uint8Array.fromBase64(base64)]
    return uri === undefined ? [] : [uri]
  })
}

type Inputs = NonNullable<Asked['inputs']>

function operationOf(job: JobView, context: DialectContext): object {
  const { id: name, state, status } = job
  if (status === 'none') return {}
  if (status === 'unknown') return { name, done: true }
  switch (state) {
    case 'queued':
      return { name }
    case 'running':
      return { name, metadata: {}, done: false }
    case 'failed':
      return { name, done: true, error: { code: 13, message: 'Simulated failure', details: [] } }
    case 'filtered':
      return {
        name,
        done: true,
        response: {
          generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Simulated reason.'] },
        },
      }
    case 'finished': {
      const generatedSamples = job.outputs?.map(output => ({ video: videoOf(output, context) }))
      return { name, done: true, response: { generateVideoResponse: { generatedSamples } } }
    }
  }
}

/** Clips are on the host of the API, behind the key. */
function videoOf({ file, url, isOwn, bytes }: OutputView, context: DialectContext): object {
  const encoding = 'video/mp4'
  if (bytes !== undefined) return { encodedVideo: bytes.toBase64(), encoding }
  return { uri: isOwn ? `${context.url}/v1beta/files/${file}:download?alt=media` : url, encoding }
}
