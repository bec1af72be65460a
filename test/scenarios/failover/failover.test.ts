import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { OPEN_MS_MAX } from '../../../src/gateway/upstreams/upstream-health.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.ts'
import { refusedUrl, startUpstream, type Reply, type Upstream } from '../../support/upstream.ts'
import {
  answer,
  chatAnswer,
  chunk,
  closeBeforeHeaders,
  cutChunked,
  EVENT_STREAM,
  head,
  html,
  json,
  resetAfterHeaders,
  resetBeforeHeaders,
  sse,
} from '../../support/upstream-replies.ts'
import { textRouteCases } from '../text/text-routes.ts'

const HELLO = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hello' }] }
const SAID = 'Said by the spare.'
const EMPTY = chatAnswer({
  content: '',
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
})
/** Ten input tokens and five output tokens. */
const COST = '0.00007'
const FRAMES = [
  `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${SAID}"},"finish_reason":null}]}\n\n`,
  'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}\n\n',
  'data: [DONE]\n\n',
]

let main: Upstream
let spare: Upstream
let gateway: TestGateway
let ada: TestAccount
const clock = fakeClock()

beforeAll(async () => {
  main = startUpstream()
  spare = startUpstream()
  const provider = (id: string, baseUrl: string) => ({
    id,
    kind: 'openai-compatible',
    base_url: baseUrl,
    api_key: `sk-of-${id}-0123456789`,
    retries: 0,
  })
  const model = (id: string, upstreams: readonly object[]) => ({
    id,
    kind: 'chat',
    upstreams,
    pricing: { input_per_mtok: '2', output_per_mtok: '10' },
    max_output_tokens: 1000,
  })
  const spareUpstream = { provider: 'spare', model: 'spare-model', order: 2 }
  gateway = await startTestGateway({
    catalog: JSON.stringify({
      providers: [
        provider('main', main.baseUrl),
        provider('spare', spare.baseUrl),
        provider('refusing', refusedUrl()),
      ],
      models: [
        model('gpt-x', [{ provider: 'main', model: 'main-model', order: 1 }, spareUpstream]),
        model('gpt-refused', [{ provider: 'refusing', model: 'm', order: 1 }, spareUpstream]),
        {
          id: 'embed-x',
          kind: 'embedding',
          upstreams: [{ provider: 'main', model: 'main-embed', order: 1 }, spareUpstream],
          pricing: { input_per_mtok: '2' },
        },
        model('gpt-alone', [{ provider: 'main', model: 'main-model' }]),
      ],
    }),
    environment: { TOLLGATE_REPLAY_TTL_S: '0' },
    overrides: { clock },
  })
  ada = await gateway.account()
})
beforeEach(() => {
  // Closes the circuits that the previous test opened.
  clock.advance(OPEN_MS_MAX)
  main.reply(chatAnswer())
  spare.reply(chatAnswer({ content: SAID }))
})
afterAll(async () => {
  await gateway.stop()
  main.close()
  spare.close()
})

/** One request: its reply, the number of calls to each upstream, and its cost. */
async function ask(body: object = {}) {
  const before = [main.requests.length, spare.requests.length]
  const { available_usd: had } = await ada.balance()
  const response = await gateway.chat(ada.key, { ...HELLO, ...body })
  const text = await response.text()
  const { available_usd: has, held_usd: held } = await ada.balance()
  return {
    status: response.status,
    headers: response.headers,
    text,
    asked: { main: main.requests.length - before[0]!, spare: spare.requests.length - before[1]! },
    charged: (Number(had) - Number(has)).toFixed(9).replace(/\.?0+$/, ''),
    held,
  }
}

const error = (status: number): Reply => json({ error: { message: 'No.', type: 'nope' } }, { status })

const faults: readonly (readonly [string, Reply])[] = [
  ['resets before headers', resetBeforeHeaders()],
  ['closes before headers', closeBeforeHeaders()],
  ['answers 401', error(401)],
  ['answers 402', error(402)],
  ['answers 403', error(403)],
  ['answers 404', error(404)],
  ['answers 429', error(429)],
  ['answers 500', error(500)],
  ['answers 503', error(503)],
  ['redirects', answer('', { status: 302, headers: { location: 'https://example.com' } })],
  ['answers 200 with HTML', html()],
]

describe('a JSON request whose first upstream', () => {
  test.each([
    ...faults,
    ['resets after headers', resetAfterHeaders()],
    [
      'answers 200 with broken JSON',
      answer('{"choices":[{', { headers: { 'content-type': 'application/json' } }),
    ],
    ['answers 200 with an empty answer', EMPTY],
  ])('%s is answered by the next one and charged only for that answer', async (_, fault) => {
    main.reply(fault)

    const { status, headers, text, asked, charged, held } = await ask()

    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      model: 'gpt-x',
      choices: [{ message: { content: SAID } }],
      usage: { cost_usd: COST },
    })
    expect(headers.get('x-service-cost-usd')).toBe(COST)
    expect(asked).toEqual({ main: 1, spare: 1 })
    expect([charged, held]).toEqual([COST, '0'])
  })

  test('a JSON request whose first upstream refuses the connection is answered by the next one', async () => {
    const { status, asked, charged } = await ask({ model: 'gpt-refused' })

    expect(status).toBe(200)
    expect(asked.spare).toBe(1)
    expect(charged).toBe(COST)
  })

  test.each([400, 409, 413, 422])(
    'a JSON request whose first upstream answers %d has no failover, because the request is wrong',
    async status => {
      main.reply(error(status))

      const reply = await ask()

      expect(reply.status).toBe(status)
      expect(reply.asked).toEqual({ main: 1, spare: 0 })
      expect(reply.charged).toBe('0')
    },
  )

  test('a JSON request whose first upstream cuts the answer short by length or content filter has no failover', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'length' }]
    main.reply(
      json({ object: 'chat.completion', choices, usage: { prompt_tokens: 10, completion_tokens: 5 } }),
    )

    const { status, asked } = await ask()

    expect(status).toBe(200)
    expect(asked).toEqual({ main: 1, spare: 0 })
  })

  test('a JSON request whose first upstream fails is sent to the next one with that upstream’s model name', async () => {
    main.reply(error(500))

    await ask()

    const sent = (upstream: Upstream) => JSON.parse(new TextDecoder().decode(upstream.requests.at(-1)!.body))
    expect(sent(main)).toEqual({ ...HELLO, model: 'main-model' })
    expect(sent(spare)).toEqual({ ...HELLO, model: 'spare-model' })
  })
})

describe('a stream whose first upstream', () => {
  test.each([
    ...faults,
    ['breaks after its headers', cutChunked([], EVENT_STREAM)],
    ['sends an error as its first frame', sse(['data: {"error":{"message":"overloaded"}}\n\n'])],
    ['ends without output', sse([''])],
    ['sends a complete JSON answer', chatAnswer()],
  ])('%s is streamed by the next one and charged only for that stream', async (_, fault) => {
    main.reply(fault)
    spare.reply(sse(FRAMES))

    const { status, text, asked, charged, held } = await ask({ stream: true })

    expect(status).toBe(200)
    expect(text).toBe(FRAMES.join(''))
    expect(asked).toEqual({ main: 1, spare: 1 })
    expect([charged, held]).toEqual([COST, '0'])
  })

  test('a stream whose first upstream breaks after output began ends with an error, without failover', async () => {
    const held = main.hold()
    const before = spare.requests.length
    const opening = gateway.chat(ada.key, { ...HELLO, stream: true })
    const exchange = await held
    await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    await exchange.write(chunk(FRAMES[0]!))
    const response = await opening

    exchange.reset()
    const text = await response.text()

    expect(text).toStartWith(FRAMES[0]!)
    expect(text).toContain('"error"')
    expect(text).not.toContain('[DONE]')
    expect(spare.requests).toHaveLength(before)
  })
})

describe.each(textRouteCases.map(route => [route.title, route] as const))('on the route %s', (_, route) => {
  const { path, model, request, isInputOnly, upstreamPath } = route
  const send = () =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'x-api-key': ada.key },
      body: JSON.stringify({ model, ...request }),
    })

  test.each([
    ['fails', error(500)],
    ['breaks the connection', resetBeforeHeaders()],
    ['answers with HTML', html()],
  ])('if the first upstream %s, the next one answers, and only that answer is charged', async (_, fault) => {
    main.reply(fault)
    spare.reply(route.answer({ input: 10, output: 5 }))

    const response = await send()

    expect(response.status).toBe(200)
    expect(response.headers.get('x-service-cost-usd')).toBe(isInputOnly === true ? '0.00002' : COST)
    expect(spare.requests.at(-1)).toMatchObject({ path: upstreamPath })
  })

  test('a 429 of every upstream stays a 429', async () => {
    main.reply(error(429))
    spare.reply(json({}, { status: 429, headers: { 'retry-after': '7' } }))

    const response = await send()

    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
  })
})

test('a message without content is a failover to the next upstream, like an empty chat answer', async () => {
  main.reply(EMPTY)

  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': ada.key },
    body: JSON.stringify({ ...HELLO, max_tokens: 100 }),
  })

  expect(await response.json()).toMatchObject({ content: [{ type: 'text', text: SAID }] })
})

describe('if no upstream is left', () => {
  test('a 429 stays a 429, with the shortest Retry-After', async () => {
    const limited = (seconds: string) => json({}, { status: 429, headers: { 'retry-after': seconds } })
    main.reply(limited('7'))
    spare.reply(limited('40'))

    const { status, headers, asked, charged, held } = await ask()

    expect(status).toBe(429)
    expect(headers.get('retry-after')).toBe('7')
    expect(asked).toEqual({ main: 1, spare: 1 })
    expect([charged, held]).toEqual(['0', '0'])
  })

  test.each([
    ['429', error(429), error(500), 429],
    ['500', error(500), resetBeforeHeaders(), 502],
    ['404', error(404), html(), 502],
    ['500', error(500), error(422), 422],
  ])(
    'if no upstream is left after a %s, the client gets the most useful result',
    async (_, first, second, expected) => {
      main.reply(first)
      spare.reply(second)

      const { status, charged, held } = await ask()

      expect(status).toBe(expected)
      expect([charged, held]).toEqual(['0', '0'])
    },
  )

  test('an empty answer is returned, and charged as reported', async () => {
    main.reply(EMPTY)
    spare.reply(error(500))

    const { status, text, asked, charged } = await ask()

    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      choices: [{ message: { content: '' } }],
      usage: { cost_usd: '0.00004' },
    })
    expect(asked).toEqual({ main: 1, spare: 1 })
    expect(charged).toBe('0.00004')
    const { data } = await gateway.admin<{ data: { provider: string }[] }>('GET', 'usage?limit=1')
    expect(data[0]!.provider).toBe('main')
  })

  test('an empty answer of the only upstream is returned immediately', async () => {
    main.reply(EMPTY)

    const { status, asked, charged } = await ask({ model: 'gpt-alone' })

    expect(status).toBe(200)
    expect(asked).toEqual({ main: 1, spare: 0 })
    expect(charged).toBe('0.00004')
  })

  test('the error contains neither a host nor a key of an upstream', async () => {
    main.reply(error(500))
    const leak = `Call http://${new URL(main.baseUrl).host} with sk-of-main-0123456789, not ${spare.baseUrl}`
    spare.reply(json({ error: { message: leak } }, { status: 400 }))

    const { status, text } = await ask()

    expect(status).toBe(400)
    expect(text).not.toContain(new URL(main.baseUrl).port)
    expect(text).not.toContain(new URL(spare.baseUrl).port)
    expect(text).not.toContain('sk-of-main')
  })
})

test('an upstream that fails repeatedly is skipped while its circuit is open', async () => {
  await ask()
  main.reply(error(500))
  const asked: number[] = []

  for (let times = 0; times < 5; times += 1) asked.push((await ask()).asked.main)
  clock.advance(OPEN_MS_MAX)
  main.reply(chatAnswer())
  asked.push((await ask()).asked.main)

  expect(asked).toEqual([1, 1, 1, 0, 0, 1])
})

test('the ledger is sound afterwards', async () => {
  const verification = await gateway.admin<{ ok: boolean; problems: unknown[] }>('POST', 'verify')

  expect(verification).toMatchObject({ ok: true, problems: [] })
})
