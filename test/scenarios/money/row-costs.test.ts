import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatAnswer, json, sse } from '../../support/upstream-replies.ts'
import { images, imageModel, startScriptedImages } from '../gateways/image-gateway.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'
import { startVideoGateway, videoModel } from '../gateways/video-gateway.ts'
import { textRouteCases } from '../text/text-routes.ts'
import { DONE, FINISH, HEL, ROLE, usage as usageFrame } from '../../support/stream-frames.ts'

/** A tenth of the prices of `chatModel`, and 0.000000001 USD for a request. */
const COST = { input_per_mtok: '0.2', output_per_mtok: '1', per_request: '0.000000001' }
const upstream = { provider: 'main', model: 'x', cost: COST }
/** 10 × 0.2 + 5 × 1 per million, and the request. */
const OF_TEN_AND_FIVE = '0.000007001'
const counts = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

/** The sandbox finishes this video at once. */
const QUICK = 'A lighthouse at dawn [sandbox delay_ms=0]'

type Charge = { readonly cost_usd: string; readonly provider_cost_usd: string | null }

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    providers: baseUrl => [
      { id: 'spare', kind: 'openai-compatible', base_url: baseUrl, retries: 0 },
      { id: 'filter', kind: 'openai-compatible', base_url: baseUrl, bills_refused: 'content_filter' },
    ],
    models: [
      chatModel('costed', { upstreams: [upstream] }),
      chatModel('edited', { upstreams: [upstream] }),
      chatModel('gift', { pricing: 'free', upstreams: [upstream] }),
      chatModel('switched', {
        upstreams: [
          upstream,
          { provider: 'spare', model: 'y', order: 2, cost: { ...COST, input_per_mtok: '0' } },
        ],
      }),
      chatModel('filtered', { upstreams: [{ ...upstream, provider: 'filter' }] }),
      chatModel('gpt-x', { upstreams: [upstream] }),
      {
        id: 'embed-x',
        kind: 'embedding',
        upstreams: [
          { provider: 'main', model: 'x', cost: { input_per_mtok: '0.2', per_request: COST.per_request } },
        ],
        pricing: { input_per_mtok: '2' },
        context_window: 100_000,
      },
    ],
  })
})
afterAll(() => gateway.stop())

async function chat(key: string, model: string, request: object = {}): Promise<Response> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...request }),
  })
  await response.text()
  return response
}

async function chargesOf(account: { readonly id: string }): Promise<readonly Charge[]> {
  const { data } = await gateway.admin<{ data: readonly Charge[] }>('GET', `usage?account=${account.id}`)
  return data
}

async function lossesOf(account: { readonly id: string }): Promise<readonly object[]> {
  const { data } = await gateway.admin<{ data: readonly { account: string }[] }>('GET', 'losses')
  return data.filter(line => line.account === account.id)
}

describe('the cost of a charge at the prices of its upstream', () => {
  test.each([
    ['an answer', 'costed', false, '0.00007'],
    ['a stream', 'costed', true, '0.00007'],
    ['an answer of a free model', 'gift', false, '0'],
  ])(
    'the cost of a charge at the prices of its upstream is recorded for %s, rounded up once',
    async (_, model, stream, cost) => {
      const account = await gateway.account({ grant: '10' })
      gateway.upstream.reply(
        stream ? sse([ROLE, HEL, FINISH, usageFrame(counts), DONE]) : chatAnswer({ usage: counts }),
      )

      await chat(account.key, model, { stream })

      expect(await chargesOf(account)).toMatchObject([{ cost_usd: cost, provider_cost_usd: OF_TEN_AND_FIVE }])
      await expectNothingHeld(gateway, account)
    },
  )

  test('the cost of a charge at the prices of its upstream does not replace the cost that the provider reports', async () => {
    const account = await gateway.account({ grant: '10' })
    gateway.upstream.reply(chatAnswer({ usage: { ...counts, cost: 0.5 } }))

    await chat(account.key, 'costed')

    expect(await chargesOf(account)).toMatchObject([{ provider_cost_usd: '0.5' }])
  })

  test('the cost of a charge at the prices of its upstream does not change if the row is edited while the request runs', async () => {
    const account = await gateway.account({ grant: '10' })
    const taken = gateway.upstream.hold()
    const running = chat(account.key, 'edited')
    const exchange = await taken
    const dearer = { ...upstream, cost: { input_per_mtok: '100', output_per_mtok: '100' } }
    await gateway.admin('PUT', 'models/edited', { ...chatModel('edited'), upstreams: [dearer] })

    await chatAnswer({ usage: counts })(exchange)
    await running

    expect(await chargesOf(account)).toMatchObject([{ provider_cost_usd: OF_TEN_AND_FIVE }])
  })

  test('the cost of a charge at the prices of its upstream follows from an estimated usage too', async () => {
    const account = await gateway.account({ grant: '10' })
    gateway.upstream.reply(chatAnswer({ usage: null }))

    await chat(account.key, 'costed')

    const [charge] = await chargesOf(account)
    expect(charge).toMatchObject({
      source: 'estimated',
      provider_cost_usd: expect.stringMatching(/^0\.0000/),
    })
  })
})

describe('work that is billed and not sold', () => {
  test('work that is billed and not sold has the cost of its own upstream: an empty answer before another upstream', async () => {
    const account = await gateway.account({ grant: '10' })
    const empty = { id: 'c', object: 'chat.completion', choices: [], usage: counts }
    gateway.upstream.reply(json(empty), chatAnswer({ usage: counts }))

    await chat(account.key, 'switched')

    expect(await chargesOf(account)).toMatchObject([{ provider: 'spare', provider_cost_usd: '0.000005001' }])
    expect(await lossesOf(account)).toMatchObject([
      { reason: 'abandoned', provider: 'main', provider_cost_usd: OF_TEN_AND_FIVE },
    ])
    await expectNothingHeld(gateway, account)
  })

  test('work that is billed and not sold has a cost by its estimate: a prompt that the content filter refused', async () => {
    const account = await gateway.account({ grant: '10' })
    const error = { message: 'Filtered.', type: null, param: 'prompt', code: 'content_filter' }
    gateway.upstream.reply(json({ error }, { status: 400 }))

    const { status } = await chat(account.key, 'filtered')

    expect(status).toBe(400)
    // It is recorded in the background.
    await until('the attempt was not recorded', async () => (await lossesOf(account)).length > 0)
    expect(await lossesOf(account)).toMatchObject([
      { reason: 'abandoned', provider_cost_usd: expect.stringMatching(/^0\.0000/) },
    ])
  })
})

describe('the cost of a job at the prices of its upstream', () => {
  let media: Awaited<ReturnType<typeof startScriptedImages>>

  beforeAll(async () => {
    const at = (cost: object) => [{ provider: 'box', model: 'image', cost }]
    const tokens = { text_input_per_mtok: '2', image_input_per_mtok: '4', image_output_per_mtok: '16' }
    media = await startScriptedImages({
      models: [
        imageModel('draw-costed', { upstreams: at({ per_image: '0.03' }) }),
        imageModel('draw-by-tokens', { upstreams: at({ ...tokens, max_per_image: '0.2' }) }),
      ],
    })
  })
  afterAll(async () => {
    await media.verify()
    await media.stop()
  })

  const newest = async () => {
    const { data } = await media.admin<{ data: readonly Charge[] }>('GET', 'usage?limit=1')
    return data[0]
  }

  test.each([
    ['by the images that are charged', 'draw-costed', {}, '0.06'],
    [
      'by the tokens of the answer',
      'draw-by-tokens',
      { tokens: { textInput: 50, imageInput: 0, textOutput: 0, imageOutput: 4160 } },
      '0.06666',
    ],
    ['by the highest price of the images without tokens', 'draw-by-tokens', {}, '0.4'],
  ])('the cost of a job at the prices of its upstream is %s', async (_, model, change, cost) => {
    const ada = await media.account({ grant: '100' })
    media.media.submitted = images(['one', 'two'], change)

    await media.created(ada.key, { model, n: 2 })

    expect(await newest()).toMatchObject({ cost_usd: '0.08', provider_cost_usd: cost })
  })

  test('the cost of a job at the prices of its upstream is that of its creation', async () => {
    const ada = await media.account({ grant: '100' })
    media.media.submitted = undefined
    const { id } = await media.running(ada.key, { model: 'draw-costed' })
    const dearer = [{ provider: 'box', model: 'image', cost: { per_image: '9' } }]
    await media.admin('PUT', 'models/draw-costed', imageModel('draw-costed', { upstreams: dearer }))
    media.media.polled = images(['one'])

    await media.poll(ada.key, id)

    expect(await newest()).toMatchObject({ provider_cost_usd: '0.03' })
  })

  test('the cost of a job at the prices of its upstream is recorded for a result that is lost', async () => {
    const ada = await media.account({ grant: '100' })
    const outputs = [{ from: 'bytes' as const, bytes: new TextEncoder().encode('<html>') }]
    media.media.submitted = { outcome: 'finished', result: { outputs, isCounted: true } }

    await media.create(ada.key, { model: 'draw-by-tokens' })

    const { data } = await media.admin<{ data: readonly object[] }>('GET', 'losses?limit=1')
    expect(data).toMatchObject([{ reason: 'result_lost', loss_usd: '0.04', provider_cost_usd: '0.2' }])
  })
})

describe('customers', () => {
  /** Amounts and members that only the operator may see. */
  const SECRET =
    /provider.?cost|without.?cost|"cost":|margin|losses|0\.000007001|0\.000002001|per_request|0\.2"|0\.000000001|0\.03\b|0\.15\b/i

  /** Everything of a reply that its client sees. */
  async function textOf(response: Response): Promise<string> {
    return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
  }

  /** The replies of all routes of the description that a customer can read, with this id in their paths. */
  async function replies(url: string, key: string, id: string): Promise<ReadonlyMap<string, string>> {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    }
    const paths = Object.keys(document.paths)
      .filter(path => document.paths[path]?.['get'] !== undefined && path !== '/openapi.json')
      .map(path => path.replace('{model}', 'costed').replace(/\{[^}]+\}/, id))
    const read = async (path: string) =>
      [path, await textOf(await fetch(url + path, { headers: { 'x-api-key': key } }))] as const
    return new Map(await Promise.all(paths.map(read)))
  }

  function expectNoCost(seen: ReadonlyMap<string, string>): void {
    for (const [path, text] of seen) expect([path, text.match(SECRET)]).toEqual([path, null])
  }

  test('customers see no cost of a provider in any header or body that they can read', async () => {
    const account = await gateway.account({ grant: '10' })
    gateway.upstream.reply(chatAnswer({ usage: counts }))
    const answered = await chat(account.key, 'costed')
    const id = answered.headers.get('x-request-id') ?? ''

    const seen = await replies(gateway.url, account.key, id)

    expect(seen.get('/v1/usage')).toContain('0.00007')
    expect(seen.get(`/v1/requests/${id}`)).toStartWith('200 ')
    expectNoCost(seen)
  })

  const stream = sse([ROLE, HEL, FINISH, usageFrame(counts), DONE])
  test.each([
    {
      title: 'chat',
      path: '/v1/chat/completions',
      model: 'gpt-x',
      request: { messages: [{ role: 'user', content: 'Hi' }] },
      answer: () => chatAnswer({ usage: counts }),
    },
    {
      title: 'a chat stream',
      path: '/v1/chat/completions',
      model: 'gpt-x',
      request: {
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
        stream_options: { include_usage: true },
      },
      answer: () => stream,
    },
    ...textRouteCases,
  ])(
    'customers see no cost of a provider in the reply of $title',
    async ({ title, path, model, request, ...route }) => {
      const account = await gateway.account({ grant: '10' })
      gateway.upstream.reply(route.answer({ input: 10, output: 5 }))

      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.key}` },
        body: JSON.stringify({ model, ...request }),
      })

      expect(response.status).toBe(200)
      expectNoCost(new Map([[title, await textOf(response)]]))
      const [charge] = await chargesOf(account)
      expect(charge?.provider_cost_usd).toMatch(/^0\.00000[27]001$/)
    },
  )

  test('customers see no cost of a provider in their image jobs', async () => {
    const media = await startScriptedImages({
      models: [
        imageModel('draw-costed', {
          upstreams: [{ provider: 'box', model: 'image', cost: { per_image: '0.03' } }],
        }),
      ],
    })
    const ada = await media.account({ grant: '100' })
    media.media.submitted = images(['one'])
    const reply = await textOf(await media.create(ada.key, { model: 'draw-costed' }))
    const { data } = await media.admin<{ data: readonly { id: string }[] }>('GET', 'jobs')

    const seen = await replies(media.url, ada.key, data[0]!.id)
    await media.stop()

    expect(seen.get(`/v1/images/jobs/${data[0]!.id}`)).toContain('completed')
    expectNoCost(new Map([...seen, ['the reply', reply]]))
  })

  test('customers see no cost of a provider in their video jobs', async () => {
    const cost = { per_second: '0.03' }
    const media = await startVideoGateway({
      models: [videoModel('film-costed', { upstreams: [{ provider: 'box', model: 'video', cost }] })],
    })
    const ada = await media.account({ grant: '100' })
    const created = await media.create(ada.key, { model: 'film-costed', prompt: QUICK, duration: 5 })
    const { id } = (await created.clone().json()) as { readonly id: string }
    const reply = await textOf(created)
    await media.poll(ada.key, id)

    const seen = await replies(media.url, ada.key, id)
    const { data } = await media.admin<{ data: readonly Charge[] }>('GET', `usage?account=${ada.id}`)
    await media.stop()

    expect(data).toMatchObject([{ cost_usd: '0.5', provider_cost_usd: '0.15' }])
    expect(seen.get(`/v1/videos/${id}`)).toContain('completed')
    expect(seen.get(`/v1/videos/${id}/content`)).toStartWith('200 ')
    expectNoCost(new Map([...seen, ['the reply', reply]]))
  })
})

describe('the sandbox', () => {
  test.each([
    ['a text', '/v1/chat/completions', { model: 'trial', messages: [{ role: 'user', content: 'Hi' }] }],
    ['an image', '/v1/images/generations', { model: 'draw-trial', prompt: 'A fox' }],
    ['a clip', '/v1/videos', { model: 'family-a', prompt: QUICK }],
  ])('the sandbox bills nothing: %s has a known cost of zero', async (_, path, request) => {
    const trial = chatModel('trial', { upstreams: [{ provider: 'box', model: 'talk' }] })
    const sandbox = await startVideoGateway({ models: [trial, imageModel('draw-trial')] })
    const ada = await sandbox.account({ grant: '10' })

    const response = await sandbox.create(ada.key, request, { path })

    const { id } = (await response.json()) as { readonly id: string }
    if (response.status === 202) await sandbox.poll(ada.key, id)
    const { data } = await sandbox.admin<{ data: readonly Charge[] }>('GET', `usage?account=${ada.id}`)
    await sandbox.stop()
    expect(data).toMatchObject([{ provider_cost_usd: '0' }])
    expect(data[0]?.cost_usd).not.toBe('0')
  })
})
