import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import {
  answer,
  badChunk,
  head,
  html,
  json,
  JSON_TYPE,
  redirect,
  resetBeforeHeaders,
} from '../../../test/support/upstream-replies.ts'
import { refusedUrl, startUpstream, type Reply, type Upstream } from '../../../test/support/upstream.ts'
import type { Moderator } from '../../gateway/ports/moderator.ts'
import {
  MODERATION_TIMEOUT_MS,
  moderationsRoute,
  openAiModerations,
  readVerdict,
  VERDICT_BYTES_MAX,
} from './openai-moderations.ts'

let upstream: Upstream
let clock: FakeClock
let moderator: Moderator

beforeAll(() => {
  upstream = startUpstream()
})
afterAll(() => upstream.close())
beforeEach(() => {
  clock = fakeClock()
  moderator = openAiModerations({ url: `${upstream.baseUrl}/moderations`, key: 'sk-mod' }, { clock })
})

const results = (...flags: unknown[]) => ({ id: 'modr-1', results: flags.map(flagged => ({ flagged })) })
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

test('one piece is asked as a string, with the key', async () => {
  upstream.reply(json(results(false)))

  expect(await moderator.judge(['Is this fine?'])).toEqual({ verdict: 'passed' })

  const request = upstream.requests.at(-1)
  expect(request).toMatchObject({ method: 'POST', path: '/v1/moderations' })
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer sk-mod',
    'content-type': 'application/json',
  })
  expect(request?.json()).toEqual({ input: 'Is this fine?' })
})

test('several pieces are asked together, and one that is flagged flags all', async () => {
  upstream.reply(json(results(false, true)))

  expect(await moderator.judge(['fine', 'not fine'])).toEqual({ verdict: 'flagged' })
  expect(upstream.requests.at(-1)?.json()).toEqual({ input: ['fine', 'not fine'] })
})

test('without a key none is sent', async () => {
  upstream.reply(json(results(false)))
  const keyless = openAiModerations({ url: upstream.baseUrl, key: undefined }, { clock })

  await keyless.judge(['text'])

  expect(upstream.requests.at(-1)?.headers).not.toContainKey('authorization')
})

test.each([
  ['https://api.example.com/v1/moderations', 'https://api.example.com/v1/moderations'],
  ['https://api.example.com/check', 'https://api.example.com/check'],
  ['https://api.example.com/v1', 'https://api.example.com/v1/moderations'],
  ['https://api.example.com/', 'https://api.example.com/moderations'],
  ['https://api.example.com', 'https://api.example.com/moderations'],
])('%s is asked at %s', (url, route) => {
  expect(moderationsRoute(url)).toBe(route)
})

describe('no verdict, and so no flag, is', () => {
  test.each<[title: string, reply: Reply, problem: string]>([
    ['a status of its own', json({ error: { message: 'No.' } }, { status: 500 }), 'status 500'],
    ['a flag with an error status', json(results(true), { status: 400 }), 'status 400'],
    ['a redirect', redirect('http://127.0.0.1:1/'), 'status 302'],
    ['a page', html(), 'its answer is no verdict'],
    ['a broken connection', resetBeforeHeaders(), 'ECONNRESET'],
    ['a broken body', badChunk(), 'InvalidHTTPResponse'],
    [
      'an answer without end',
      answer(' '.repeat(VERDICT_BYTES_MAX + 1), { headers: JSON_TYPE }),
      'its answer is too long',
    ],
  ])('%s', async (_, reply, problem) => {
    upstream.reply(reply)

    expect(await moderator.judge(['text'])).toEqual({ verdict: 'unavailable', problem })
    expect(clock.waiting).toBe(0)
  })

  test.each([
    ['no results', {}],
    ['results that are none', { results: [] }],
    ['results that are no list', { results: { flagged: true } }],
    ['a result without a flag', { results: [{}] }],
    ['a result that is no object', { results: [true] }],
    ['a flag that is a text', results('true')],
    ['a flag that is a number', results(1)],
    ['a flag that is null', results(null)],
    ['one plain result beside one that is odd', results(false, 'true')],
  ])('%s', (_, body) => {
    expect(readVerdict(bytes(body))).toEqual({ verdict: 'unavailable', problem: 'its answer is no verdict' })
  })

  test('nobody there', async () => {
    const nobody = openAiModerations({ url: refusedUrl(), key: undefined }, { clock })

    expect(await nobody.judge(['text'])).toMatchObject({ verdict: 'unavailable' })
  })

  test.each([
    ['silence', ''],
    ['half an answer', `${head(200, { ...JSON_TYPE, 'content-length': '50' })}{"results":`],
  ])('%s, after three seconds, and the call is ended', async (_, sent) => {
    const held = upstream.hold()
    const judged = moderator.judge(['text'])
    const exchange = await held
    await exchange.write(sent)

    clock.advance(MODERATION_TIMEOUT_MS)

    expect(await judged).toEqual({ verdict: 'unavailable', problem: 'no answer in time' })
    await exchange.closed
    expect(clock.waiting).toBe(0)
  })
})
