import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { responseAnswer, routeModels, routeProviders } from './text-routes.ts'

/** The context window of the model costs 0.2 USD, and its longest answer 0.01 USD. */
const WORST_CASE_USD = '0.21'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({ models: routeModels, providers: () => routeProviders })
})
beforeEach(() => gateway.upstream.reply(responseAnswer('Hello.', { input: 90_000, output: 5 })))
afterAll(() => gateway.stop())

const respond = (key: string, body: string) =>
  fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers: { 'x-api-key': key }, body })

const named = [
  ['an earlier response', '"input":"And then?","previous_response_id":"resp_1"'],
  ['a conversation', '"input":"And then?","conversation":{"id":"conv_1"}'],
  ['a stored prompt', '"input":"And then?","prompt":{"id":"pmpt_1","variables":{"name":"Ada"}}'],
  ['a file that the provider stores', '"input":[{"content":[{"type":"input_file","file_id":"file_1"}]}]'],
  [
    'a file that the provider fetches',
    '"input":[{"content":[{"type":"input_file","file_url":"https://a.example/b.pdf"}]}]',
  ],
] as const

test.each(named)('%s that a request references is forwarded unchanged', async (_, member) => {
  const ada = await gateway.account({ grant: '1' })

  const response = await respond(ada.key, `{"model":"gpt-x",${member}}`)

  expect(response.status).toBe(200)
  expect(gateway.upstream.requests.at(-1)!.text()).toBe(`{"model":"gpt-x-upstream",${member}}`)
  expect(response.headers.get('x-service-cost-usd')).toBe('0.18005')
  expect(await ada.balance()).toMatchObject({ available_usd: '0.81995', held_usd: '0' })
})

test.each(named)('with %s, the balance must cover the whole context window', async (_, member) => {
  const { key } = await gateway.account({ grant: '0.209' })
  const asked = gateway.upstream.requests.length

  const response = await respond(key, `{"model":"gpt-x",${member}}`)
  const refusal = (await response.json()) as { error: { message: string } }

  expect(response.status).toBe(402)
  expect(refusal).toMatchObject({ required_usd: WORST_CASE_USD, max_affordable_output_tokens: 900 })
  expect(refusal.error.message).toContain('only references')
  expect(gateway.upstream.requests.length).toBe(asked)
})
