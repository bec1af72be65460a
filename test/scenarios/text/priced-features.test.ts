import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { cutChunked, EVENT_STREAM, json, sse } from '../../support/upstream-replies.ts'
import type { Reply } from '../../support/upstream.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'

const PRICING = {
  input_per_mtok: '2',
  output_per_mtok: '10',
  per_search_call: '0.01',
  per_file_search: '0.0025',
  service_tiers: { flex: '0.5', priority: '2' },
}
const HI = [{ role: 'user', content: 'Hi' }]
const USAGE = { prompt_tokens: 100, completion_tokens: 10 }
/** 100 × 2 + 10 × 10 USD per million. */
const STANDARD = '0.0003'
const SEARCHES = [
  {
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'a', queries: ['a', 'b'] },
  },
  { type: 'web_search_call', status: 'completed', action: { type: 'open_page', url: 'https://example.com' } },
  { type: 'web_search_call', status: 'completed', action: { type: 'find_in_page', pattern: 'x' } },
  { type: 'file_search_call', status: 'completed', queries: ['c'], results: null },
  { type: 'web_search_call', status: 'completed' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
]
/** Two searches and one file search beside the tokens. */
const SEARCHED = '0.0228'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x', { pricing: PRICING }),
      chatModel('plain'),
      chatModel('standard', { pricing: PRICING, refuse_fields: { service_tier: ['default'] } }),
      chatModel('own', { pricing: 'upstream_cost', ceiling_pricing: PRICING }),
    ],
  })
})
afterAll(() => gateway.stop())

function post(account: TestAccount, path: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', ...body }),
  })
}

const chat = (account: TestAccount, body: object) =>
  post(account, 'chat/completions', { messages: HI, ...body })

type Charge = { readonly cost_usd: string; readonly usage: Readonly<Record<string, unknown>> }

/** The reply's cost, the charge and the hold of one request. */
async function settled(path: string, body: object, reply: Reply) {
  const account = await gateway.account({ grant: '10' })
  const held = gateway.upstream.hold()
  const pending = post(account, path, body)
  const exchange = await held
  const { held_usd: holds } = await account.balance()
  await reply(exchange)
  const response = await pending
  const text = await response.text()
  await settlementOf(gateway, account)
  const { data } = await gateway.read<{ data: readonly Charge[] }>(account.key, '/v1/usage')
  const [charge] = data
  await expectNothingHeld(gateway, account)
  return { holds: Number(holds), cost: response.headers.get('x-service-cost-usd'), text, charge }
}

const completion = (tier?: unknown) =>
  json({
    object: 'chat.completion',
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: USAGE,
    ...(tier === undefined ? {} : { service_tier: tier }),
  })

const response = (output: readonly object[], more: object = {}) => ({
  object: 'response',
  status: 'completed',
  model: 'x',
  output,
  usage: { input_tokens: 100, output_tokens: 10 },
  ...more,
})

describe('the service tier of an answer', () => {
  test.each([
    ['priority', '0.0006', 'priority'],
    ['flex', '0.00015', 'flex'],
    ['default', STANDARD, 'default'],
    ['unheard-of', STANDARD, 'unheard-of'],
    [undefined, STANDARD, null],
    [7, STANDARD, null],
  ])('%p scales the price of the tokens', async (tier, cost, recorded) => {
    const settlement = await settled('chat/completions', { messages: HI }, completion(tier))

    expect(settlement.cost).toBe(cost)
    expect(settlement.charge).toMatchObject({
      cost_usd: cost,
      is_clamped: false,
      usage: { service_tier: recorded },
    })
  })

  test.each([
    ['with include_usage', { include_usage: true }],
    ['without', undefined],
  ])('the service tier of an answer of a chat stream %s counts', async (_, options) => {
    const frame = (value: object) =>
      `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...value })}\n\n`
    const delta = { index: 0, delta: { content: 'Hello.' }, finish_reason: null }
    const frames = [
      frame({ choices: [delta], service_tier: 'auto' }),
      frame({ choices: [{ ...delta, delta: {}, finish_reason: 'stop' }] }),
      frame({ choices: [], usage: USAGE, service_tier: 'priority' }),
      'data: [DONE]\n\n',
    ]
    const body = { messages: HI, stream: true, ...(options && { stream_options: options }) }

    const { charge } = await settled('chat/completions', body, sse(frames))

    expect(charge).toMatchObject({ cost_usd: '0.0006', usage: { service_tier: 'priority' } })
  })

  test('the service tier of an answer that costs more than the one asked for is charged as that one', async () => {
    const { charge } = await settled(
      'chat/completions',
      { messages: HI, service_tier: 'default' },
      completion('priority'),
    )

    expect(charge).toMatchObject({
      cost_usd: STANDARD,
      is_clamped: true,
      usage: { service_tier: null },
    })
  })

  test('the service tier of an answer does not change a cost that the provider reports', async () => {
    const reply = json({
      choices: [{ message: { content: 'Hi' } }],
      usage: { ...USAGE, cost: 0.001 },
      service_tier: 'priority',
    })

    const { charge } = await settled('chat/completions', { model: 'own', messages: HI }, reply)

    expect(charge).toMatchObject({ cost_usd: '0.001', usage: { service_tier: 'priority' } })
  })

  test('the service tier of an answer of a row without tiers changes nothing', async () => {
    const { charge } = await settled(
      'chat/completions',
      { model: 'plain', messages: HI },
      completion('priority'),
    )

    expect(charge).toMatchObject({ cost_usd: STANDARD })
  })
})

describe('the hold', () => {
  const base = async () =>
    (await settled('chat/completions', { messages: HI, service_tier: 'default' }, completion())).holds

  test.each([
    ['a tier', 'gpt-x', { service_tier: 'priority' }, 2],
    ['a cheaper tier, which may not be available', 'gpt-x', { service_tier: 'flex' }, 1],
    ['any tier', 'gpt-x', { service_tier: 'auto' }, 2],
    ['no tier', 'gpt-x', {}, 2],
    ['no tier, where only the standard one is allowed', 'standard', {}, 1],
  ])('the hold of a request for %s has the dearest tier that it may get', async (_, model, more, factor) => {
    const { holds } = await settled('chat/completions', { model, messages: HI, ...more }, completion())

    expect(holds / (await base())).toBeCloseTo(factor, 1)
  })

  const search = { type: 'web_search' }
  test.each([
    ['no tools', {}, 0],
    ['tools of the client', { tools: [{ type: 'function', name: 'f' }] }, 0],
    ['a search', { tools: [search] }, 0.1],
    ['a dated search', { tools: [{ type: 'web_search_preview_2025_03_11' }] }, 0.1],
    ['a limited search', { tools: [search], max_tool_calls: 3 }, 0.03],
    ['no call', { tools: [search], max_tool_calls: 0 }, 0],
    ['a file search', { tools: [{ type: 'file_search' }] }, 0.025],
    ['both', { tools: [search, { type: 'file_search' }], max_tool_calls: 2 }, 0.025],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, 0.125],
    ['tools in the input', { input: [{ type: 'additional_tools', tools: [search] }] }, 0.1],
  ])('the hold of a request with %s has the calls that it allows', async (_, more, calls) => {
    // A stored prompt holds the whole window.
    const plain = 'prompt' in more ? { prompt: { id: 'p' } } : {}
    const ask = async (model: string, body: object) =>
      (
        await settled(
          'responses',
          { model, input: 'Hi', service_tier: 'default', ...body },
          json(response([])),
        )
      ).holds

    const held = (await ask('gpt-x', more)) - (await ask('plain', plain))

    expect(held).toBeCloseTo(calls, 3)
  })

  test('the hold that does not fit names the output that would', async () => {
    const thin = await gateway.account({ grant: '0.0121' })
    const body = { input: 'Hi', tools: [search], max_tool_calls: 1, service_tier: 'priority' }

    const refused = await post(thin, 'responses', body)
    const { max_affordable_output_tokens: most } = (await refused.clone().json()) as Record<string, number>
    gateway.upstream.reply(json(response([])))
    const fitting = await post(thin, 'responses', { ...body, max_output_tokens: most })
    const above = await post(thin, 'responses', { ...body, max_output_tokens: most! + 60 })

    expect(await refusalOf(refused)).toMatchObject({ status: 402 })
    expect(most).toBeGreaterThan(50)
    expect(fitting.status).toBe(200)
    expect(above.status).toBe(402)
  })
})

describe('searches', () => {
  test('searches in a JSON answer are charged for each, without opened pages', async () => {
    const { cost, charge } = await settled('responses', { input: 'Hi' }, json(response(SEARCHES)))

    expect(cost).toBe(SEARCHED)
    expect(charge).toMatchObject({ cost_usd: SEARCHED, usage: { search_calls: 2, file_searches: 1 } })
  })

  const event = (type: string, value: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
  const items = SEARCHES.map((item, index) =>
    event('response.output_item.done', { output_index: index, item }),
  )
  const text = event('response.output_text.delta', { output_index: 5, delta: 'Hello.' })

  test.each([
    ['whose last event lists them', SEARCHES],
    ['whose last event has no output', []],
  ])('searches in a stream %s are charged once', async (_, output) => {
    const end = event('response.completed', { response: response(output, { service_tier: 'default' }) })

    const { charge } = await settled(
      'responses',
      { input: 'Hi', stream: true },
      sse([...items.slice(0, 5), text, end]),
    )

    expect(charge).toMatchObject({
      cost_usd: SEARCHED,
      usage: { search_calls: 2, file_searches: 1, service_tier: 'default' },
    })
  })

  test('searches in a stream that breaks off are charged beside the estimate', async () => {
    const { charge } = await settled(
      'responses',
      { input: 'Hi', stream: true },
      cutChunked([items[0]!, text], EVENT_STREAM),
    )

    expect(charge).toMatchObject({ source: 'estimated', usage: { search_calls: 1 } })
    expect(Number(charge!.cost_usd)).toBeGreaterThan(0.01)
    expect(Number(charge!.cost_usd)).toBeLessThan(0.0101)
  })

  test('searches above the limit of the request are clamped', async () => {
    const { charge } = await settled(
      'responses',
      { input: 'Hi', max_tool_calls: 1 },
      json(response(SEARCHES)),
    )

    expect(charge).toMatchObject({ is_clamped: true, usage: { search_calls: 1, file_searches: 1 } })
  })

  test('searches of a row without their price are recorded and cost nothing', async () => {
    const { charge } = await settled('responses', { model: 'plain', input: 'Hi' }, json(response(SEARCHES)))

    expect(charge).toMatchObject({ cost_usd: STANDARD, usage: { search_calls: 2 } })
  })
})

describe('a request for a row that prices features', () => {
  const raw = (account: TestAccount, body: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body,
    })
  const twice = (model: string) =>
    `{"model":"${model}","messages":[],"service_tier":"default","Service_Tier":"priority"}`

  test('a request for a row that prices features is refused if its tier could be read in two ways', async () => {
    const ada = await gateway.account()

    const refusal = await refusalOf(await raw(ada, twice('gpt-x')))

    expect(refusal).toMatchObject({ status: 400, code: 'ambiguous_field', param: 'service_tier' })
  })

  test('a request for a row that prices features passes with any field where the row prices none', async () => {
    const ada = await gateway.account()
    gateway.upstream.reply(completion())

    expect((await raw(ada, twice('plain'))).status).toBe(200)
    expect((await chat(ada, { model: 'plain', service_tier: 'priority' })).status).toBe(200)
  })
})
