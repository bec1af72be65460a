import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { MODERATED_CHARS_MAX, PIECE_CHARS_MAX } from '../../../src/gateway/text/moderate.ts'
import { MODERATION_TIMEOUT_MS } from '../../../src/providers/moderation/openai-moderations.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer, json, resetBeforeHeaders, sse } from '../../support/upstream-replies.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { DONE, HEL } from '../../support/stream-frames.ts'

const FLAGGED = json({ results: [{ flagged: true, categories: { violence: true } }] })
const PASSED = json({ results: [{ flagged: false }] })

let moderator: Upstream
let gateway: ScriptedGateway
let ada: TestAccount
let poor: TestAccount
let before = { judged: 0, asked: 0 }

beforeAll(async () => {
  moderator = startUpstream()
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x', { pricing: DOLLAR_A_REQUEST }),
      chatModel('off', { enabled: false, pricing: DOLLAR_A_REQUEST }),
      { id: 'embed-x', kind: 'embedding', upstreams: [{ provider: 'main', model: 'e' }], pricing: 'free' },
    ],
    environment: {
      TOLLGATE_REPLAY_TTL_S: '60',
      TOLLGATE_MODERATION_URL: `${moderator.baseUrl}/moderations`,
      TOLLGATE_MODERATION_KEY: 'sk-mod',
    },
  })
  poor = await gateway.account({ grant: '0' })
})
afterAll(async () => {
  await gateway.stop()
  moderator.close()
})
beforeEach(async () => {
  moderator.reply(PASSED)
  gateway.upstream.reply(chatAnswer())
  before = { judged: moderator.requests.length, asked: gateway.upstream.requests.length }
  ada = await gateway.account({ grant: '10' })
})

const judged = () => moderator.requests.length - before.judged
const asked = () => gateway.upstream.requests.length - before.asked
const request = (content: string, change: object = {}) =>
  JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content }], ...change })
const input = () => (moderator.requests.at(-1)!.json() as { input: unknown }).input
const verdicts = (verdict: string) => gateway.metric(`tollgate_moderations_total{verdict="${verdict}"}`)

describe('a moderator that flags a text', () => {
  test.each([
    ['JSON', {}],
    ['a stream', { stream: true }],
  ])('a moderator that flags a text refuses the request without a charge: %s', async (_, change) => {
    moderator.reply(FLAGGED)
    const flagged = await verdicts('flagged')

    const refusal = await refusalOf(await gateway.chat(ada.key, request('How do I hurt someone?', change)))

    expect(refusal).toMatchObject({
      status: 400,
      type: 'content_policy_violation',
      code: 'content_policy_violation',
    })
    expect(input()).toBe('How do I hurt someone?')
    expect(asked()).toBe(0)
    expect(await ada.balance()).toMatchObject({ available_usd: '10', held_usd: '0' })
    expect(await verdicts('flagged')).toBe(flagged + 1)
    await expectNothingHeld(gateway, ada)
  })

  test('a moderator that flags a text refuses only that request', async () => {
    moderator.reply(FLAGGED, PASSED)
    const body = request('Again?')

    expect((await gateway.chat(ada.key, body)).status).toBe(400)
    expect((await gateway.chat(ada.key, body)).status).toBe(200)
  })
})

describe('a request continues if the moderator', () => {
  test.each([
    ['approves', PASSED, 'passed'],
    ['fails', json({ error: { message: 'Oh.' } }, { status: 500 }), 'unavailable'],
    ['refuses its key', json({ error: { message: 'No.' } }, { status: 401 }), 'unavailable'],
    ['breaks the connection', resetBeforeHeaders(), 'unavailable'],
    ['answers something else', json({ flagged: true }), 'unavailable'],
  ])('a request continues if the moderator %s', async (title, reply, verdict) => {
    moderator.reply(reply)
    const counted = await verdicts(verdict)

    const response = await gateway.chat(ada.key, request(title))

    expect(response.status).toBe(200)
    expect(asked()).toBe(1)
    expect(await ada.balance()).toMatchObject({ available_usd: '9' })
    expect(await verdicts(verdict)).toBe(counted + 1)
  })

  test('a request continues if the moderator does not answer within three seconds', async () => {
    const held = moderator.hold()
    const response = gateway.chat(ada.key, request('Anyone?'))
    await held

    expect(asked()).toBe(0)
    gateway.clock.advance(MODERATION_TIMEOUT_MS)

    expect((await response).status).toBe(200)
  })
})

describe('doctor', () => {
  type Check = { readonly name: string; readonly ok: boolean; readonly detail: string }
  const moderationCheck = async () => {
    const { checks } = await gateway.admin<{ checks: readonly Check[] }>('GET', 'doctor')
    return checks.find(({ name }) => name === 'moderation')
  }

  test.each([
    ['answers', PASSED, true, 'The moderator answers.'],
    [
      'gives no verdict',
      json({}, { status: 401 }),
      false,
      'every request continues unmoderated (status 401).',
    ],
    ['flags everything', FLAGGED, false, 'The moderator flags a plain greeting'],
  ])('doctor reports whether the moderator works: one that %s', async (_, reply, ok, detail) => {
    moderator.reply(reply)

    expect(await moderationCheck()).toEqual({
      name: 'moderation',
      ok,
      detail: expect.stringContaining(detail),
    })
  })
})

test('a stream continues after its text has passed', async () => {
  gateway.upstream.reply(sse([HEL + DONE]))

  const response = await gateway.chat(ada.key, request('Stream, please', { stream: true }))

  expect(await response.text()).toBe(HEL + DONE)
  expect(judged()).toBe(1)
})

describe('the moderator gets', () => {
  const post = (path: string, body: object) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-api-key': ada.key },
      body: JSON.stringify({ model: 'gpt-x', ...body }),
    })
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Bad.' }] }]

  test.each<[path: string, body: object, text: string]>([
    ['/v1/chat/completions', { messages }, 'Bad.'],
    ['/v1/responses', { input: 'Bad.', instructions: 'Be worse.' }, 'Be worse.\nBad.'],
    ['/v1/messages', { messages, max_tokens: 9, system: 'Be worse.' }, 'Be worse.\nBad.'],
    ['/v1/messages', { messages, max_tokens: 9, stream: true }, 'Bad.'],
  ])('the moderator gets the text of %s', async (path, body, text) => {
    moderator.reply(FLAGGED)

    const refusal = await refusalOf(await post(path, body))

    expect(refusal).toMatchObject({ status: 400, code: 'content_policy_violation' })
    expect(input()).toBe(text)
    expect(asked()).toBe(0)
  })

  test('the moderator gets the converted chat request of a Messages request, without the dropped fields', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'find', input: { id: 'Hidden.', type: 'bad' } }
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' }
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Found.' }
    const body = {
      max_tokens: 9,
      messages: [
        { role: 'assistant', content: [thought, call] },
        { role: 'user', content: [result] },
      ],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      context_management: { edits: ['Not sent.'] },
    }

    await post('/v1/messages', body)

    expect(input()).toBe('find\n{"id":"Hidden.","type":"bad"}\nFound.')
  })

  test.each<[path: string, body: object]>([
    ['/v1/embeddings', { model: 'embed-x', input: 'Bad.' }],
    ['/v1/messages/count_tokens', { messages }],
  ])('the moderator gets nothing of %s', async (path, body) => {
    const embedding = { object: 'embedding', index: 0, embedding: [0.5] }
    gateway.upstream.reply(json({ object: 'list', data: [embedding], model: 'e' }))
    moderator.reply(FLAGGED)

    expect((await post(path, body)).status).toBe(200)
    expect(judged()).toBe(0)
  })
})

test('a request without text is not moderated', async () => {
  const response = await gateway.chat(ada.key, JSON.stringify({ model: 'gpt-x', messages: [] }))

  expect(response.status).toBe(200)
  expect(judged()).toBe(0)
})

test('the end of a long text is moderated, in pieces of limited size', async () => {
  const text = `start ${'x'.repeat(MODERATED_CHARS_MAX)} end`

  const response = await gateway.chat(ada.key, request(text))

  const pieces = input() as string[]
  expect(response.status).toBe(200)
  expect(pieces.join('')).toBe(text.slice(-MODERATED_CHARS_MAX))
  expect(Math.max(...pieces.map(piece => piece.length))).toBe(PIECE_CHARS_MAX)
})

describe('if two checks apply, the first in the order decides', () => {
  test('if two checks apply, the first in the order decides: replay, then disabled model', async () => {
    const body = request('kept 1')
    await gateway.chat(ada.key, body)
    await gateway.admin('PATCH', 'models/gpt-x', { enabled: false })

    const repeat = await gateway.chat(ada.key, body)
    await gateway.admin('PATCH', 'models/gpt-x', { enabled: true })

    expect(repeat.status).toBe(200)
    expect(repeat.headers.get('x-service-replay')).toBe('true')
  })

  test('if two checks apply, the first in the order decides: replay, then moderation, which is not called again', async () => {
    const body = request('kept 2')
    await gateway.chat(ada.key, body)
    moderator.reply(FLAGGED)

    const repeat = await gateway.chat(ada.key, body)

    expect(repeat.status).toBe(200)
    expect(judged()).toBe(1)
  })

  test('if two checks apply, the first in the order decides: replay, then balance', async () => {
    const account = await gateway.account({ grant: '1' })
    const body = request('kept 3')
    await gateway.chat(account.key, body)

    expect((await gateway.chat(account.key, request('another'))).status).toBe(402)
    expect((await gateway.chat(account.key, body)).status).toBe(200)
  })

  test('if two checks apply, the first in the order decides: disabled model, then moderation, which is not called', async () => {
    moderator.reply(FLAGGED)

    const refusal = await refusalOf(await gateway.chat(ada.key, request('bad', { model: 'off' })))

    expect(refusal).toMatchObject({ status: 404, code: 'model_not_found' })
    expect(judged()).toBe(0)
  })

  test('if two checks apply, the first in the order decides: disabled model, then balance', async () => {
    const refusal = await refusalOf(await gateway.chat(poor.key, request('poor', { model: 'off' })))

    expect(refusal).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  test('if two checks apply, the first in the order decides: moderation, then balance', async () => {
    moderator.reply(FLAGGED)

    const refusal = await refusalOf(await gateway.chat(poor.key, request('poor and bad')))

    expect(refusal).toMatchObject({ status: 400, code: 'content_policy_violation' })
    moderator.reply(PASSED)
    expect((await gateway.chat(poor.key, request('poor and good'))).status).toBe(402)
  })
})
