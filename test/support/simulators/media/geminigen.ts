import { jsonReply } from '../simulated-reply.ts'
import type { ErrorName } from './behaviors.ts'
import type { Asked, Dialect, JobView } from './dialect.ts'

const SUBMIT = /^\/uapi\/v1\/(generate_image|imagen\/[\w-]+|video-(?:gen|extend)\/[a-z]+)$/
const HISTORY = /^\/uapi\/v1\/history\/(.+)$/

const errors: Readonly<Record<ErrorName, { readonly status: number; readonly code: string }>> = {
  invalid: { status: 400, code: 'TOO_MANY_IMAGES' },
  safety: { status: 400, code: 'UNSAFE_GENERATION' },
  rate_limited: { status: 429, code: 'RATE_LIMIT_ERROR' },
  no_credit: { status: 400, code: 'NOT_ENOUGH_CREDIT' },
  key_refused: { status: 401, code: 'API_KEY_NOT_FOUND' },
  not_found: { status: 404, code: 'HISTORY_NOT_FOUND' },
  server: { status: 500, code: 'INTERNAL_ERROR' },
}

/** GeminiGen.AI, as far as the gateway uses it. */
export const geminigenDialect: Dialect = {
  name: 'geminigen',

  read({ method, pathname, headers, body }) {
    const key = headers['x-api-key']
    const [, route] = SUBMIT.exec(pathname) ?? []
    if (method === 'POST' && route !== undefined)
      return { key, call: 'create', asked: askedOf(body, route, headers) }
    const [, id] = HISTORY.exec(pathname) ?? []
    if (method === 'GET' && id !== undefined) return { key, call: 'query', id: decodeURIComponent(id) }
    if (pathname !== '/uapi/v1/account') return { key, call: 'unknown' }
    return {
      key,
      call: 'other',
      reply: jsonReply({ user_credit: { available_credit: 100, locked_credit: 0 } }),
    }
  },

  created: job => jsonReply(itemOf(job)),
  createdWithoutId: () => jsonReply({ status: 1, status_desc: 'Processing' }),
  task: job => jsonReply(itemOf(job)),

  error(name, { status = errors[name].status, retryAfterS }) {
    const wait: Readonly<Record<string, string>> =
      retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
    return jsonReply(
      { detail: { error_code: errors[name].code, error_message: `Simulated ${name}` } },
      status,
      wait,
    )
  },

  idOf: number => `c558a44c-c91c-11f0-98b4-${String(number).padStart(12, '0')}`,
}

/** Reads a form. The content of files is left out. */
function askedOf(body: string, route: string, headers: Readonly<Record<string, string>>): Asked | undefined {
  const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? []
  if (boundary === undefined) return undefined
  const fields = body.split(`--${boundary}`).slice(1, -1).flatMap(fieldOf)
  const text = (name: string) => fields.find(field => field.name === name)?.text
  const prompt = text('prompt')
  if (prompt === undefined || text('model') === undefined) return undefined
  const duration = text('duration')
  const inputs = fields.filter(({ name }) => ['ref_images', 'files', 'file_urls'].includes(name))
  return {
    prompt,
    inputs: inputs.map(({ text: content }) => content),
    extra: { route, fields: Object.fromEntries(fields.map(({ name, text: content }) => [name, content])) },
    ...(duration === undefined ? {} : { durationMs: Number(duration) * 1000 }),
  }
}

function fieldOf(part: string): readonly { readonly name: string; readonly text: string }[] {
  const found =
    /^\r\ncontent-disposition: form-data; name="([^"]+)"(?:; filename="([^"]+)"\r\ncontent-type: \S+)?\r\n\r\n(.*)\r\n$/s.exec(
      part,
    )
  const [, name, file, content = ''] = found ?? []
  return name === undefined ? [] : [{ name, text: file ?? content }]
}

function itemOf({ id: uuid, state, status, outputs, asked }: JobView): object {
  const item = { uuid, input_text: asked.prompt, error_code: '', error_message: '' }
  if (status === 'none') return item
  if (status === 'unknown') return { ...item, status: 7, status_desc: 'Dreaming' }
  switch (state) {
    case 'queued':
    case 'running':
      return { ...item, status: 1, status_desc: 'Processing' }
    case 'failed':
      return { ...item, status: 3, error_code: 'GENERATION_FAILED', error_message: 'Simulated failure' }
    case 'filtered':
      return {
        ...item,
        status: 3,
        error_code: 'GEMINI_RAI_MEDIA_FILTERED',
        error_message: 'Simulated filter',
      }
    case 'finished': {
      const isVideo = String(asked.extra?.['route']).startsWith('video-')
      const made = outputs?.map(({ url }) => (isVideo ? { video_url: url } : { image_url: url }))
      return {
        ...item,
        status: 2,
        status_desc: 'Completed',
        [isVideo ? 'generated_video' : 'generated_image']: made,
      }
    }
  }
}
