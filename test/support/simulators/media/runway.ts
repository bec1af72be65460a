import { jsonReply } from '../simulated-reply.ts'
import type { Asked, Dialect, JobView } from './dialect.ts'
import { errorReply, fixtureOf, type ErrorFixtures } from './fixtures.ts'
import { readJson } from './read-json.ts'

const errors: ErrorFixtures = {
  invalid: [400, 'validation-failed'],
  safety: [400, 'validation-failed'],
  rate_limited: [429, 'rate-limited'],
  no_credit: [400, 'not-enough-credits'],
  key_refused: [401, 'unauthorized'],
  not_found: [404, 'not-found'],
  server: [503, 'overloaded'],
}

const states = {
  queued: fixtureOf('runway', 'pending'),
  running: fixtureOf('runway', 'running'),
  finished: fixtureOf('runway', 'succeeded'),
  failed: fixtureOf('runway', 'failed'),
  filtered: fixtureOf('runway', 'failed'),
}

const VERSION = '2024-11-06'
const ROUTE = /^\/v1\/(text_to_image|text_to_video|image_to_video|video_to_video)$/

/** The API of Runway, as far as the gateway uses it. It refuses requests without its version. */
export const runwayDialect: Dialect = {
  name: 'runway',

  read({ method, pathname, headers, body }) {
    const [, key] = /^Bearer (.+)$/.exec(headers['authorization'] ?? '') ?? []
    if (headers['x-runway-version'] !== VERSION)
      return { key, call: 'other', reply: errorReply('runway', errors.invalid, {}) }
    const [, id] = /^\/v1\/tasks\/([^/]+)$/.exec(pathname) ?? []
    if (method === 'GET' && id !== undefined) return { key, call: 'query', id: decodeURIComponent(id) }
    if (method === 'GET' && pathname === '/v1/organization')
      return { key, call: 'other', reply: jsonReply({ creditBalance: 100, tier: {}, usage: {} }) }
    const [, route] = ROUTE.exec(pathname) ?? []
    if (method !== 'POST' || route === undefined) return { key, call: 'unknown' }
    return { key, call: 'create', asked: askedOf(route, body) }
  },

  created: ({ id }) => jsonReply({ ...fixtureOf('runway', 'created'), id }),
  createdWithoutId: () => jsonReply({ estimatedCost: { credits: 50 } }),
  task: job => jsonReply(taskOf(job)),
  error: (name, answer) => errorReply('runway', errors[name], answer),
  idOf: number => `17f20503-6c24-4c16-946b-${number.toString(16).padStart(12, '0')}`,
}

function taskOf({ id, state, status, outputs }: JobView): object {
  return {
    ...states[state],
    id,
    ...(state === 'finished' ? { output: outputs?.map(({ url }) => url) } : {}),
    ...(status === 'known' ? {} : { status: status === 'unknown' ? 'DREAMING' : undefined }),
  }
}

/** Members that have an input or a list of inputs. */
const INPUTS = ['promptImage', 'promptVideo', 'videoUri', 'referenceImages', 'referenceVideos', 'references']

function linkIn(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input]
  const { uri } = (input ?? {}) as { readonly uri?: unknown }
  return typeof uri === 'string' ? [uri] : []
}

/** Undefined for a body that lacks what its route needs. */
function askedOf(route: string, body: string): Asked | undefined {
  const members = readJson(body) ?? {}
  const { model, promptText, promptImage, promptVideo, videoUri, duration, ratio } = members
  const isRight = typeof model === 'string' && typeof promptText === 'string'
  const isShaped = ratio === undefined || (typeof ratio === 'string' && !ratio.includes('x'))
  const hasInput = { image_to_video: promptImage, video_to_video: promptVideo ?? videoUri }[route]
  const isComplete = !/^(?:image|video)_to_video$/.test(route) || hasInput !== undefined
  if (!isRight || !isShaped || !isComplete) return undefined
  if (duration !== undefined && typeof duration !== 'number') return undefined
  return {
    prompt: promptText,
    inputs: INPUTS.flatMap(name => members[name] ?? []).flatMap(linkIn),
    extra: { model, route },
    ...(duration === undefined ? {} : { durationMs: duration * 1000 }),
  }
}
