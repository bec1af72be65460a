import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
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
import type { Moderator } from '../../gateway/ports/providers/moderator.ts'
import { httpClient, type HttpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import {
  MODERATION_TIMEOUT_MS,
  moderationsRoute,
  openAiModerations,
  readVerdict,
  VERDICT_BYTES_MAX,
} from './openai-moderations.ts'

let upstream: Upstream
let clock: FakeClock
let http: HttpClient
let moderator: Moderator

beforeAll(() => {
  upstream = startUpstream()
})
afterAll(() => upstream.close())
beforeEach(() => {
  clock = fakeClock()
  http = httpClient(new Timers(clock))
  moderator = openAiModerations({ url: `${upstream.baseUrl}/moderations`, key: 'sk-mod' }, { http })
})
afterEach(() => {
  http.close()
  expect(clock.waiting).toBe(0)
})

const results = (...flags: unknown[]) => ({ id: 'modr-1', results: flags.map(flagged => ({ flagged })) })
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

test('one piece is sent as a string, with the key', async () => {
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

test('several pieces are sent together, and one flag counts for all of them', async () => {
  upstream.reply(json(results(false, true)))

  expect(await moderator.judge(['fine', 'not fine'])).toEqual({ verdict: 'flagged' })
  expect(upstream.requests.at(-1)?.json()).toEqual({ input: ['fine', 'not fine'] })
})

test('no key is sent if none is set', async () => {
  upstream.reply(json(results(false)))
  const keyless = openAiModerations({ url: upstream.baseUrl, key: undefined }, { http })

  await keyless.judge(['text'])

  expect(upstream.requests.at(-1)?.headers).not.toContainKey('authorization')
})

test.each([
  ['https://api.example.com/v1/moderations', 'https://api.example.com/v1/moderations'],
  ['https://api.example.com/check', 'https://api.example.com/check'],
  ['https://api.example.com/v1', 'https://api.example.com/v1/moderations'],
  ['https://api.example.com/', 'https://api.example.com/moderations'],
  ['https://api.example.com', 'https://api.example.com/moderations'],
])('requests for %s go to %s', (url, route) => {
  expect(moderationsRoute(url)).toBe(route)
})

describe('the verdict is unavailable for', () => {
  test.each<[title: string, reply: Reply, problem: string]>([
    ['an error status', json({ error: { message: 'No.' } }, { status: 500 }), 'status 500'],
    ['a flag with an error status', json(results(true), { status: 400 }), 'status 400'],
    ['a redirect', redirect('http://127.0.0.1:1/'), 'status 302'],
    ['a page', html(), 'its answer contains no verdict'],
    ['a broken connection', resetBeforeHeaders(), 'ECONNRESET'],
    ['a broken body', badChunk(), 'InvalidHTTPResponse'],
    [
      'an answer that is too long',
      answer(' '.repeat(VERDICT_BYTES_MAX + 1), { headers: JSON_TYPE }),
      'its answer is too long',
    ],
  ])('the verdict is unavailable for %s', async (_, reply, problem) => {
    upstream.reply(reply)

    expect(await moderator.judge(['text'])).toEqual({ verdict: 'unavailable', problem })
  })

  test.each([
    ['no results', {}],
    ['an empty list of results', { results: [] }],
    ['results that are not a list', { results: { flagged: true } }],
    ['a result without a flag', { results: [{}] }],
    ['a result that is not an object', { results: [true] }],
    ['a flag that is a text', results('true')],
    ['a flag that is a number', results(1)],
    ['a flag that is null', results(null)],
    ['a plain flag next to a flag that is a text', results(false, 'true')],
  ])('the verdict is unavailable for %s', (_, body) => {
    expect(readVerdict(bytes(body))).toEqual({
      verdict: 'unavailable',
      problem: 'its answer contains no verdict',
    })
  })

  test('the verdict is unavailable for a refused connection', async () => {
    const unreachable = openAiModerations({ url: refusedUrl(), key: undefined }, { http })

    expect(await unreachable.judge(['text'])).toMatchObject({ verdict: 'unavailable' })
  })

  test.each([
    ['silence', ''],
    ['half an answer', `${head(200, { ...JSON_TYPE, 'content-length': '50' })}{"results":`],
  ])(
    'the verdict is unavailable for %s, after three seconds, and the request is aborted',
    async (_, sent) => {
      const held = upstream.hold()
      const judged = moderator.judge(['text'])
      const exchange = await held
      await exchange.write(sent)

      clock.advance(MODERATION_TIMEOUT_MS)

      expect(await judged).toEqual({ verdict: 'unavailable', problem: 'no answer in time' })
      await exchange.closed
    },
  )
})
