import { jsonReply, type SimulatedReply } from '../simulated-reply.ts'
import type { Asked, Dialect, DialectContext, JobView } from './dialect.ts'
import { errorReply, fixtureOf, type ErrorFixtures } from './fixtures.ts'
import { readJson } from './read-json.ts'

const submitted = fixtureOf('fal', 'submitted')
const result = { image: fixtureOf('fal', 'result-image'), video: fixtureOf('fal', 'result-video') }

const errors: ErrorFixtures = {
  invalid: [422, 'missing-prompt'],
  safety: [422, 'content-policy-violation'],
  rate_limited: [429, 'too-many-requests'],
  no_credit: [403, 'exhausted-balance'],
  key_refused: [401, 'unauthenticated'],
  not_found: [404, 'not-found'],
  server: [500, 'internal-server-error'],
}

/** The queue of fal. A poll asks for the status, and then for the result. */
export const falDialect: Dialect = {
  name: 'fal',

  read({ method, pathname, headers, body }) {
    const [, key] = /^Key (.+)$/.exec(headers['authorization'] ?? '') ?? []
    const [, id, step] = /^\/[^/]+\/[^/]+\/requests\/([^/]+)(\/status)?$/.exec(pathname) ?? []
    if (method === 'GET' && id !== undefined) {
      const about = step === undefined ? 'result' : 'status'
      return { key, call: 'query', id: decodeURIComponent(id), about }
    }
    if (method !== 'POST' || id !== undefined) return { key, call: 'unknown' }
    return { key, call: 'create', asked: askedOf(pathname.slice(1), body) }
  },

  created: (job, context) => jsonReply({ ...submitted, request_id: job.id, ...linksOf(job, context) }),
  createdWithoutId: () => jsonReply({ status: 'IN_QUEUE', queue_position: 0 }),
  task: (job, context) => (context.about === 'result' ? resultOf(job) : statusOf(job, context)),
  error: (name, answer) => errorReply('fal', errors[name], answer),
  idOf: number => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
}

/** A failed request is completed as well. Its result is an error. */
function statusOf(job: JobView, context: DialectContext): SimulatedReply {
  const { id: request_id, state, status } = job
  const links = { request_id, response_url: linksOf(job, context).response_url }
  if (status === 'none') return jsonReply({ ...links }, 202)
  if (status === 'unknown') return jsonReply({ ...links, status: 'DREAMING' }, 202)
  if (state === 'queued') return jsonReply({ ...fixtureOf('fal', 'in-queue'), ...links }, 202)
  if (state === 'running') return jsonReply({ ...fixtureOf('fal', 'in-progress'), ...links }, 202)
  return jsonReply({ ...fixtureOf('fal', 'completed'), ...links })
}

function resultOf({ state, asked, outputs, seconds }: JobView): SimulatedReply {
  if (state === 'failed' || state === 'filtered') return jsonReply(fixtureOf('fal', errors.safety[1]), 422)
  if (state !== 'finished') return jsonReply(fixtureOf('fal', 'still-in-progress'), 400)
  if (outputs === undefined) return jsonReply({ seed: 1 })
  const files = outputs.map(({ url }) => ({ url }))
  if (asked.extra?.['isVideo'] !== true) return jsonReply({ ...result.image, images: files })
  return jsonReply({
    ...result.video,
    video: files[0] === undefined ? null : { ...files[0], duration: seconds },
  })
}

function linksOf({ id, asked }: JobView, { url }: DialectContext) {
  const link = `${url}/${String(asked.extra?.['app'])}/requests/${encodeURIComponent(id)}`
  return { response_url: link, status_url: `${link}/status`, cancel_url: `${link}/cancel` }
}

/** Models for videos have the word in their name. Undefined for a body that the model cannot read. */
function askedOf(model: string, body: string): Asked | undefined {
  const { prompt, duration, image_url, image_urls = [], video_url } = readJson(body) ?? {}
  if (typeof prompt !== 'string') return undefined
  const seconds = Number.parseFloat(String(duration))
  const extra = { app: model.split('/').slice(0, 2).join('/'), isVideo: model.includes('video') }
  const inputs = [image_url, ...(image_urls as unknown[]), video_url]
  return {
    prompt,
    inputs: inputs.filter(input => typeof input === 'string'),
    extra,
    ...(Number.isNaN(seconds) ? {} : { durationMs: seconds * 1000 }),
  }
}
