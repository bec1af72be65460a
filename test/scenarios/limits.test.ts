import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Reply } from '../support/upstream.ts'
import { chatAnswer, sse } from '../support/upstream-replies.ts'
import { refusalOf } from './refusal-of.ts'
import {
  chatModel,
  DOLLAR_A_REQUEST,
  startScriptedGateway,
  type ScriptedGateway,
} from './scripted-gateway.ts'
import { DONE, FINISH, HEL, ROLE } from './stream-frames.ts'
import { until } from './until.ts'

let gateway: ScriptedGateway

beforeEach(async () => {
  const sandbox = (model: string) => [{ provider: 'box', model }]
  gateway = await startScriptedGateway({
    models: [
      chatModel('dollar', { pricing: DOLLAR_A_REQUEST }),
      chatModel('streamed'),
      chatModel('gpt-x', { upstreams: sandbox('chat') }),
      { id: 'embed', kind: 'embedding', upstreams: sandbox('embed'), pricing: { input_per_mtok: '2' } },
      { id: 'draw', kind: 'image', upstreams: sandbox('image'), pricing: { per_image: '1' }, params: {} },
      {
        id: 'film',
        kind: 'video',
        engine: 'family-g',
        upstreams: sandbox('video'),
        pricing: { per_second: '1' },
      },
    ],
    providers: () => [{ id: 'box', kind: 'sandbox', routes: ['chat', 'responses', 'embeddings'] }],
    // Refusals are asked for at once.
    environment: { TOLLGATE_HOLD_WAIT_S: '0', TOLLGATE_REPLAY_TTL_S: '60' },
  })
  gateway.upstream.reply(answerAfter(Promise.resolve()))
})
afterEach(() => gateway.stop())

type Holder = { readonly key: string; readonly keyId: string; readonly accountId: string }

/** An account with 1000 USD, and a key with these limits. */
async function aKey(limits: object = {}): Promise<Holder> {
  const { id: accountId } = await gateway.account({ grant: '1000' })
  return aKeyOf(accountId, limits)
}

async function aKeyOf(accountId: string, limits: object = {}): Promise<Holder> {
  const { id: keyId, key } = await gateway.admin<{ id: string; key: string }>(
    'POST',
    `accounts/${accountId}/keys`,
    {},
  )
  if (Object.keys(limits).length > 0) await gateway.admin('PATCH', `keys/${keyId}`, limits)
  return { accountId, keyId, key }
}

let asked = 0

/** Each body is different, so that none is a replay. */
const routes = {
  'chat JSON': () => chat({ model: 'gpt-x' }),
  'chat stream': () => chat({ model: 'streamed', stream: true }),
  responses: () => ({ path: '/v1/responses', body: { model: 'gpt-x', input: text(), max_output_tokens: 5 } }),
  messages: () => messages({}),
  'messages stream': () => messages({ stream: true }),
  embeddings: () => ({ path: '/v1/embeddings', body: { model: 'embed', input: text() } }),
  images: () => ({ path: '/v1/images/generations', body: { model: 'draw', prompt: text() } }),
  videos: () => ({ path: '/v1/videos', body: { model: 'film', prompt: text() } }),
}

const text = () => `request ${(asked += 1)}`
const chat = (more: object) => ({
  path: '/v1/chat/completions',
  body: { max_tokens: 5, messages: [{ role: 'user', content: text() }], ...more },
})
const messages = (more: object) => ({
  path: '/v1/messages',
  body: { model: 'gpt-x', max_tokens: 5, messages: [{ role: 'user', content: text() }], ...more },
})

function send(
  { key }: Pick<Holder, 'key'>,
  { path, body }: { path: string; body: object },
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify(body),
  })
}

describe.each(Object.entries(routes))('%s', (name, request) => {
  const isMedia = name === 'images' || name === 'videos'

  test('a request is refused above the requests of a minute', async () => {
    const holder = await aKey({ limits: { requests_per_minute: 1 } })
    const first = await send(holder, request())
    await first.text()

    const second = await send(holder, request())

    expect(first.status).toBeLessThan(300)
    expect(second.headers.get('retry-after')).toBe('60')
    expect(second.headers.get('x-should-retry')).toBe('true')
    expect(await refusalOf(second)).toMatchObject({
      status: 429,
      type: 'rate_limit_error',
      code: 'requests_per_minute',
      message: 'This API key may send 1 requests a minute. Retry in 60 s.',
    })
  })

  test('a request is refused by a budget that it can never fit', async () => {
    const holder = await aKey({ budgets: { day: '0' } })

    const refused = await send(holder, request())

    const body = (await refused.clone().json()) as object
    expect(await refusalOf(refused)).toMatchObject({ status: 402, code: 'budget_exceeded' })
    expect(body).toMatchObject({ remaining_usd: '0', resets_at: '2027-01-16T00:00:00Z' })
    expect(await gateway.admin('GET', `accounts/${holder.accountId}`)).toMatchObject({ held_usd: '0' })
  })

  test('a request is refused while another request has its only slot', async () => {
    const holder = await aKey({ limits: { concurrent_requests: 1 } })
    const open = gate()
    const running = send(holder, { ...chat({ model: 'dollar' }) })
    await until('a request runs', () => gateway.upstream.requests.length === 1)

    const refused = await send(holder, request())

    expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'concurrent_requests' })
    open()
    await (await running).text()
    const next = await send(holder, request())
    await next.text()
    expect(next.status).toBeLessThan(300)
  })

  test.skipIf(isMedia)('a request is refused above the tokens of a minute', async () => {
    const holder = await aKey({ limits: { tokens_per_minute: 1 } })

    const refused = await send(holder, request())

    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'tokens_per_minute' })
  })
})

/** Holds back every answer until the gate is opened. */
function gate(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  gateway.upstream.reply(answerAfter(promise))
  return resolve
}

/** Streams at once, and answers other requests when the gate is open. */
function answerAfter(gateIsOpen: Promise<void>): Reply {
  return async exchange => {
    const sent = new TextDecoder().decode(gateway.upstream.requests.at(-1)?.body)
    const isStream = sent.includes('"stream":true')
    if (isStream) return sse([ROLE + HEL + FINISH + DONE])(exchange)
    await gateIsOpen
    return chatAnswer()(exchange)
  }
}

describe('a request within its limits', () => {
  test('a request within its limits has the headers that clients of OpenAI read', async () => {
    const holder = await aKey({ limits: { requests_per_minute: 60, tokens_per_minute: 60_000 } })

    const { headers } = await send(holder, chat({ model: 'gpt-x' }))

    expect(headers.get('x-ratelimit-limit-requests')).toBe('60')
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('59')
    expect(headers.get('x-ratelimit-reset-requests')).toBe('1s')
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('60000')
  })

  test('a request within its limits has the headers that clients of Anthropic read, on messages', async () => {
    const holder = await aKey({ limits: { requests_per_minute: 60 } })

    const { headers } = await send(holder, messages({}))

    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('59')
    expect(headers.get('anthropic-ratelimit-requests-reset')).toBe('2027-01-15T08:00:01Z')
    expect(headers.get('x-ratelimit-limit-requests')).toBeNull()
  })

  test('a request does not have the limits of the upstream, which others have', async () => {
    const [limited, other] = [await aKey({ limits: { requests_per_minute: 60 } }), await aKey()]
    gateway.upstream.reply(chatAnswer({ headers: { 'x-ratelimit-limit-requests': '7' } }))

    const own = await send(limited, chat({ model: 'dollar' }))
    const upstreams = await send(other, chat({ model: 'dollar' }))

    expect(own.headers.get('x-ratelimit-limit-requests')).toBe('60')
    expect(upstreams.headers.get('x-ratelimit-limit-requests')).toBe('7')
  })
})

test('a replay is not limited', async () => {
  const holder = await aKey({ limits: { requests_per_minute: 1 } })
  const request = chat({ model: 'dollar' })

  const first = await send(holder, request)
  const answer = await first.text()
  await until('the answer is kept', async () => (await gateway.metric('tollgate_replay_bytes')) > 0)
  const replay = await send(holder, request)

  expect(replay.status).toBe(200)
  expect(replay.headers.get('x-service-replay')).toBe('true')
  expect(await replay.text()).toBe(answer)
})

test('requests after a refusal are refused before their body is read, until its wait is over', async () => {
  const holder = await aKey({ limits: { requests_per_minute: 1 } })
  await (await send(holder, chat({ model: 'gpt-x' }))).text()
  await (await send(holder, chat({ model: 'gpt-x' }))).text()
  const malformed = () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': holder.key },
      body: '{',
    })

  gateway.clock.advance(59_000)
  const early = await malformed()
  gateway.clock.advance(1000)
  const later = await malformed()

  expect(early.headers.get('retry-after')).toBe('1')
  expect(await refusalOf(early)).toMatchObject({ status: 429, code: 'requests_per_minute' })
  expect(await refusalOf(later)).toMatchObject({ status: 400, code: 'invalid_json' })
})

test('reads and estimates count as requests of the minute', async () => {
  const holder = await aKey({ limits: { requests_per_minute: 2 } })
  const count = { path: '/v1/messages/count_tokens', body: messages({}).body }

  const counted = await send(holder, count)
  const read = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': holder.key } })
  const refused = await send(holder, count)

  expect([counted.status, read.status]).toEqual([200, 200])
  expect(await refusalOf(refused)).toMatchObject({ status: 429, code: 'requests_per_minute' })
})

test('a budget that running requests reserve is refused for now, and an exhausted one says what would fit', async () => {
  const holder = await aKey({ budgets: { day: '1.5' } })
  const open = gate()
  const running = send(holder, chat({ model: 'dollar' }))
  await until('a request runs', () => gateway.upstream.requests.length === 1)

  const reserved = await send(holder, chat({ model: 'dollar' }))
  open()
  await (await running).text()
  const exceeded = await send(holder, chat({ model: 'dollar' }))
  const fits = await send(holder, chat({ model: 'gpt-x', max_tokens: 1000 }))
  await gateway.admin('PATCH', `keys/${holder.keyId}`, { budgets: { day: '1.005' } })
  const tooLong = await send(holder, chat({ model: 'gpt-x', max_tokens: 1000 }))

  expect(reserved.headers.get('retry-after')).toBe('2')
  expect(await refusalOf(reserved)).toMatchObject({ status: 429, code: 'budget_reserved' })
  expect(await exceeded.clone().json()).toMatchObject({ required_usd: '1', remaining_usd: '0.5' })
  expect(await refusalOf(exceeded)).toMatchObject({
    status: 402,
    type: 'insufficient_balance',
    code: 'budget_exceeded',
  })
  expect(fits.status).toBe(200)
  const { max_affordable_output_tokens: ceiling } = (await tooLong.json()) as Record<string, number>
  expect(ceiling).toBeGreaterThan(100)
  const shorter = await send(holder, chat({ model: 'gpt-x', max_tokens: ceiling }))
  expect(shorter.status).toBe(200)
})

test('a key without budget does not delay the other keys of its account', async () => {
  await gateway.stop()
  gateway = await startScriptedGateway({ models: [chatModel('dollar', { pricing: DOLLAR_A_REQUEST })] })
  const exhausted = await aKey({ budgets: { day: '1' } })
  const other = await aKeyOf(exhausted.accountId)
  const open = gate()
  const running = send(exhausted, chat({ model: 'dollar' }))
  await until('a request runs', () => gateway.upstream.requests.length === 1)
  const waiting = send(exhausted, chat({ model: 'dollar' }))
  await until('a request waits', async () => (await gateway.metric('tollgate_hold_waiters')) === 1)

  const passing = send(other, chat({ model: 'dollar' }))
  await until('another key passes', () => gateway.upstream.requests.length === 2)
  open()

  expect((await passing).status).toBe(200)
  expect((await running).status).toBe(200)
  expect(await refusalOf(await waiting)).toMatchObject({ code: 'budget_exceeded' })
})

describe('the admin API', () => {
  test('the admin API changes and shows the limits of keys and accounts, which the holder sees', async () => {
    const holder = await aKey({ limits: { requests_per_minute: 60 }, budgets: { month: '20' } })
    await gateway.admin('PATCH', `accounts/${holder.accountId}`, { budgets: { day: '5' } })
    await (await send(holder, chat({ model: 'gpt-x' }))).text()

    const shown = await gateway.admin('GET', `keys/${holder.keyId}`)
    const own = await gateway.read<object>(holder.key, '/v1/key')

    const ofKey = {
      limits: { requests_per_minute: 60, tokens_per_minute: null, concurrent_requests: null },
      budgets: { day: null, week: null, month: '20', total: null },
      per_model: {},
      budget_usage: { month: { reserved_usd: '0', resets_at: '2027-02-01T00:00:00.000Z' } },
    }
    expect(shown).toMatchObject({ id: holder.keyId, ...ofKey })
    expect(own).toMatchObject({
      object: 'key',
      id: holder.keyId,
      ...ofKey,
      account: { budgets: { day: '5' } },
    })
  })

  test.each([
    [{ limits: { rpm: 1 } }, 'limits.rpm', 'did you mean requests_per_minute?'],
    [{ budgets: { month: 20 } }, 'budgets.month', 'write a decimal string of dollars such as "20"'],
    [{ budget: {} }, 'budget', 'is not a field'],
    [{}, undefined, 'The body changes nothing.'],
  ])('the admin API refuses %p and says what to write', async (body, param, remedy) => {
    const { keyId } = await aKey()

    const response = await fetch(`${gateway.url}/admin/api/keys/${keyId}`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer tg_admin_for_tests' },
      body: JSON.stringify(body),
    })

    const { error } = (await response.json()) as { error: { message: string; param: string | null } }
    expect(response.status).toBe(400)
    expect(error.message).toContain(remedy)
    expect(error.param ?? undefined).toBe(param)
  })

  test('the admin API writes each change to the audit log', async () => {
    const { keyId } = await aKey({ budgets: { day: '5' } })

    const { data } = await gateway.admin<{ data: object[] }>('GET', 'audit?limit=1')

    expect(data).toMatchObject([{ action: 'key.limits', subject: keyId, detail: '{"budgets":{"day":"5"}}' }])
  })
})
