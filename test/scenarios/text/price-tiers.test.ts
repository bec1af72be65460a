import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chatAnswer } from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { settlementOf } from '../streams/settled-stream.ts'

const PRICING = {
  input_per_mtok: '1',
  output_per_mtok: '10',
  tiers: [{ above_input_tokens: 200_000, input_per_mtok: '2', output_per_mtok: '15' }],
}

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [chatModel('tiered', { pricing: PRICING, context_window: 1_000_000, max_output_tokens: 1000 })],
  })
})
afterAll(() => gateway.stop())

/** Sends a request with so many input tokens, and the upstream reports as many. */
async function ask(promptTokens: number) {
  const account = await gateway.account()
  const held = gateway.upstream.hold()
  const content = 'word'.repeat(promptTokens)
  const pending = gateway.chat(account.key, { model: 'tiered', messages: [{ role: 'user', content }] })
  const exchange = await held
  const { held_usd } = await account.balance()
  await chatAnswer({ usage: { prompt_tokens: promptTokens, completion_tokens: 1000 } })(exchange)
  const response = await pending
  await response.text()
  const charge = await settlementOf(gateway, account)
  await expectNothingHeld(gateway, account)
  return { held: Number(held_usd), cost: response.headers.get('x-service-cost-usd'), charge }
}

test('a request below the tier holds and pays the ordinary prices', async () => {
  const { held, cost, charge } = await ask(100_000)

  expect(held).toBeCloseTo(0.11, 3)
  expect(cost).toBe('0.11')
  expect(charge).toMatchObject({ cost_usd: '0.11', source: 'reported' })
})

test('a request above the tier holds and pays the prices of the tier for all of its tokens', async () => {
  const { held, cost, charge } = await ask(300_000)

  expect(held).toBeCloseTo(0.615, 3)
  expect(cost).toBe('0.615')
  expect(charge).toMatchObject({ cost_usd: '0.615', source: 'reported' })
})

test('the public price list and the catalog show the tiers', async () => {
  const response = await fetch(`${gateway.url}/cabinet/api/public/models`)
  const { data } = (await response.json()) as { data: { pricing: object }[] }
  const exported = await gateway.admin<{ models: { pricing: object }[] }>('GET', 'catalog')

  expect(data[0]?.pricing).toEqual(PRICING)
  expect(exported.models[0]?.pricing).toEqual(PRICING)
})
