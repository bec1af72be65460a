import { jsonReply } from '../simulated-reply.ts'
import type { ErrorName } from './behaviors.ts'
import type { Asked, Dialect, JobView } from './dialect.ts'
import { readJson } from './read-json.ts'

const TASKS = /^\/api\/v3\/contents\/generations\/tasks(?:\/(.+))?$/

const errors: Readonly<Record<ErrorName, { readonly status: number; readonly code: string }>> = {
  invalid: { status: 400, code: 'InvalidParameter' },
  safety: { status: 400, code: 'InputTextSensitiveContentDetected' },
  rate_limited: { status: 429, code: 'RateLimitExceeded.EndpointRPMExceeded' },
  no_credit: { status: 403, code: 'AccountOverdueError' },
  key_refused: { status: 401, code: 'AuthenticationError' },
  not_found: { status: 404, code: 'ResourceNotFound' },
  server: { status: 500, code: 'InternalServiceError' },
}

/** Seedance on ModelArk, as far as the gateway uses it. */
export const seedanceDialect: Dialect = {
  name: 'seedance',

  read({ method, pathname, query, headers, body }, { jobs }) {
    const [, key] = /^Bearer (.+)$/.exec(headers['authorization'] ?? '') ?? []
    const found = TASKS.exec(pathname)
    if (found === null) return { key, call: 'unknown' }
    const [, id] = found
    if (method === 'POST' && id === undefined) return { key, call: 'create', asked: askedOf(body) }
    if (method === 'GET' && id !== undefined) return { key, call: 'query', id: decodeURIComponent(id) }
    const size = Number(query.get('page_size') ?? 10)
    const items = jobs.toReversed().slice(0, size).map(taskOf)
    return { key, call: 'other', reply: jsonReply({ items, total: jobs.length }) }
  },

  created: ({ id }) => jsonReply({ id }),
  createdWithoutId: () => jsonReply({}),
  task: job => jsonReply(taskOf(job)),

  error(name, { status = errors[name].status, retryAfterS }) {
    const wait: Readonly<Record<string, string>> =
      retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
    return jsonReply({ error: { code: errors[name].code, message: `Simulated ${name}` } }, status, wait)
  },

  idOf: number => `cgt-20260101000000-${number.toString(36).padStart(5, '0')}`,
}

function askedOf(body: string): Asked | undefined {
  const { content, duration } = readJson(body) ?? {}
  const items = Array.isArray(content) ? (content as Record<string, unknown>[]) : []
  const text = items.find(({ type }) => type === 'text')?.['text']
  if (typeof text !== 'string' || (duration !== undefined && typeof duration !== 'number')) return undefined
  const inputs = items.flatMap(({ image_url, video_url }) => {
    const { url } = (image_url ?? video_url ?? {}) as { url?: string }
    return url === undefined ? [] : [url]
  })
  return { prompt: text, inputs, ...(duration === undefined ? {} : { durationMs: duration * 1000 }) }
}

function taskOf({ id, state, status, outputs, seconds }: JobView): object {
  if (status === 'none') return { id, error: null }
  if (status === 'unknown') return { id, status: 'dreaming', error: null }
  switch (state) {
    case 'queued':
    case 'running':
      return { id, status: state, error: null }
    case 'failed':
      return { id, status: 'failed', error: { code: 'InternalServiceError', message: 'Simulated failure' } }
    case 'filtered': {
      const error = { code: 'OutputVideoSensitiveContentDetected', message: 'Simulated filter' }
      return { id, status: 'failed', error }
    }
    case 'finished':
      return {
        id,
        status: 'succeeded',
        error: null,
        content: { video_url: outputs?.[0]?.url },
        usage: { completion_tokens: 108_900, total_tokens: 108_900 },
        duration: seconds,
      }
  }
}
