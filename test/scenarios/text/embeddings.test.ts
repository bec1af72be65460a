import { afterAll, beforeAll, expect, test } from 'bun:test'
import { answer } from '../../support/upstream-replies.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'
import { routeModels, routeProviders, textRouteCases } from './text-routes.ts'

let gateway: ScriptedGateway
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedGateway({ models: routeModels, providers: () => routeProviders })
})
afterAll(() => gateway.stop())

async function ask(body: object | string): Promise<Response> {
  ada = await gateway.account()
  return fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify({ model: 'embed-x', input: 'Hi', ...body }),
  })
}

const route = textRouteCases.find(({ title }) => title === 'embeddings')

test('a request reaches the upstream byte for byte, except for the model', async () => {
  gateway.upstream.reply(route!.answer({ input: 10, output: 0 }))
  const body =
    '{"input":["second","\\u0066irst"],\n "dimensions":1e2, "model": "embed-x","encoding_format":"base64","x":1.0}'

  await ask(body)

  expect(gateway.upstream.requests.at(-1)!.text()).toBe(body.replace('embed-x', 'embed-x-upstream'))
})

test('an answer reaches the client byte for byte, except for the model and the cost', async () => {
  const body =
    '{"object":"list","data":[{"index":1,"embedding":"AACAPgAAAL8="},{"index":0,"embedding":[0.10, -1e-3]}],' +
    ' "model":"embed-x-upstream","usage":{"prompt_tokens":10,"total_tokens":10}}'
  gateway.upstream.reply(answer(body, { headers: { 'content-type': 'application/json' } }))

  const response = await ask({})

  const shown = body.replace('embed-x-upstream', 'embed-x')
  expect(await response.text()).toBe(
    shown.replace('"total_tokens":10', '"total_tokens":10,"cost_usd":"0.00002"'),
  )
})

test.each<[title: string, input: unknown, cost: string]>([
  ['token arrays exactly', [[1, 2, 3], [4]], '0.000008'],
  ['texts by the tokenizer', ['Hello', 'Hello'], '0.000004'],
])('an estimate counts %s', async (_title, input, cost) => {
  gateway.upstream.reply(route!.answer(null))

  await (await ask({ input })).text()

  expect(await settlementOf(gateway, ada)).toEqual({ cost_usd: cost, source: 'estimated', is_clamped: false })
})

// The context window of the row is 100,000 tokens.
test.each<[title: string, input: unknown, tokens: number]>([
  ['for a text are charged up to the context window', 'Hi', 100_000],
  ['for an array of tokens, too', [1, 2, 3], 100_000],
  ['for two texts are charged up to two context windows', ['Hi', 'Ho'], 200_000],
  ['for three arrays of tokens are charged in full', [[1], [2], [3]], 250_000],
])('250,000 reported tokens %s', async (_title, input, tokens) => {
  gateway.upstream.reply(route!.answer({ input: 250_000, output: 0 }))

  await (await ask({ input })).text()

  const cost_usd = `${tokens / 500_000}`
  expect(await settlementOf(gateway, ada)).toEqual({
    cost_usd,
    source: 'reported',
    is_clamped: tokens < 250_000,
  })
})

test('a stream is refused, because embeddings have none', async () => {
  const before = gateway.upstream.requests.length

  const refused = await ask({ stream: true })

  expect(await refusalOf(refused)).toMatchObject({ status: 400, code: 'invalid_field', param: 'stream' })
  expect(gateway.upstream.requests).toHaveLength(before)
})
