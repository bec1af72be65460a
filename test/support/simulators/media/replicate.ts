import { jsonReply } from '../simulated-reply.ts'
import type { Asked, Dialect, JobView } from './dialect.ts'
import { errorReply, fixtureOf, type ErrorFixtures } from './fixtures.ts'
import { readJson } from './read-json.ts'

const errors: ErrorFixtures = {
  invalid: [422, 'input-validation-failed'],
  safety: [422, 'input-validation-failed'],
  rate_limited: [429, 'throttled'],
  no_credit: [402, 'insufficient-credit'],
  key_refused: [401, 'unauthenticated'],
  not_found: [404, 'not-found'],
  server: [500, 'server-error'],
}

const states = {
  queued: fixtureOf('replicate', 'starting'),
  running: fixtureOf('replicate', 'processing'),
  finished: fixtureOf('replicate', 'succeeded'),
  failed: fixtureOf('replicate', 'failed'),
  filtered: fixtureOf('replicate', 'failed'),
}

/** Replicate's predictions, as far as the gateway uses them. */
export const replicateDialect: Dialect = {
  name: 'replicate',

  read({ method, pathname, headers, body }) {
    const [, key] = /^Bearer (.+)$/.exec(headers['authorization'] ?? '') ?? []
    const [, id] = /^\/v1\/predictions\/([^/]+)$/.exec(pathname) ?? []
    if (method === 'GET' && id !== undefined) return { key, call: 'query', id: decodeURIComponent(id) }
    if (method === 'GET' && pathname === '/v1/account')
      return { key, call: 'other', reply: jsonReply({ type: 'organization', username: 'acme' }) }
    const [, deployment] = /^\/v1\/(?:deployments\/([^/]+\/[^/]+)\/)?predictions$/.exec(pathname) ?? []
    if (method !== 'POST' || (deployment === undefined && pathname !== '/v1/predictions'))
      return { key, call: 'unknown' }
    return { key, call: 'create', asked: askedOf(body, deployment) }
  },

  created: job => jsonReply(predictionOf(job), 201),
  createdWithoutId: () => jsonReply({ status: 'starting' }, 201),
  task: job => jsonReply(predictionOf(job)),
  error: (name, answer) => errorReply('replicate', errors[name], answer),
  idOf: number => `gm3qorzdhgbfurvjtvhg6d${number.toString(36).padStart(4, '0')}`,
}

/** A list of links for images, and one link for a video. */
function predictionOf({ id, asked, state, status, outputs }: JobView): object {
  const shown = { ...states[state], id, input: { prompt: asked.prompt } }
  const links = outputs?.map(({ url }) => url)
  const isVideo = asked.durationMs !== undefined
  const output = isVideo && links !== undefined ? (links[0] ?? null) : links
  return {
    ...shown,
    ...(state === 'finished' ? { output } : {}),
    ...(status === 'known' ? {} : { status: status === 'unknown' ? 'dreaming' : undefined }),
  }
}

/** Members of an input that have a file or a list of files. */
const INPUTS = ['image', 'start_image', 'last_frame_image', 'end_image', 'images', 'video']

/** Undefined for a body with members that the API does not have, or without a prompt. */
function askedOf(body: string, deployment: string | undefined): Asked | undefined {
  const { version, input, ...others } = readJson(body) ?? {}
  const members = (input ?? {}) as Record<string, unknown>
  const { prompt, duration } = members
  const isNamed = deployment === undefined ? typeof version === 'string' : version === undefined
  if (!isNamed || Object.keys(others).length > 0 || typeof prompt !== 'string') return undefined
  if (duration !== undefined && typeof duration !== 'number') return undefined
  return {
    prompt,
    inputs: INPUTS.flatMap(name => members[name] ?? []).filter(one => typeof one === 'string'),
    extra: { model: deployment ?? version },
    ...(duration === undefined ? {} : { durationMs: duration * 1000 }),
  }
}
