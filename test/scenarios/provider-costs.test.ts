import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chatAnswer } from '../support/upstream-replies.ts'
import {
  chatModel,
  expectSoundBooks,
  startScriptedGateway,
  type ScriptedGateway,
} from './scripted-gateway.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('priced'),
      chatModel('resold', {
        pricing: 'upstream_cost',
        markup: '2',
        ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100' },
      }),
      chatModel('gift', { pricing: 'free' }),
    ],
  })
})
afterAll(() => gateway.stop())

const counts = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

function chat(key: string, model: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })
}

test.each([
  ['a tariff', 'priced', '0.00007'],
  ['the provider’s own cost', 'resold', '0.000246914'],
  ['no price', 'gift', '0'],
])(
  'the operator sees what the provider bills for a model with %s, rounded up once',
  async (_, model, cost) => {
    const account = await gateway.account({ grant: '10' })
    gateway.upstream.reply(chatAnswer({ usage: { ...counts, cost: 0.000_123_456_7 } }))

    await chat(account.key, model)

    const { data } = await gateway.admin<{ data: object[] }>('GET', `usage?account=${account.id}`)
    expect(data).toMatchObject([{ cost_usd: cost, provider_cost_usd: '0.000123457' }])
    await expectSoundBooks(gateway, account)
  },
)

test('the operator sees that a provider reported no cost', async () => {
  const account = await gateway.account({ grant: '10' })
  gateway.upstream.reply(chatAnswer({ usage: counts }))

  await chat(account.key, 'priced')

  const { data } = await gateway.admin<{ data: object[] }>('GET', `usage?account=${account.id}`)
  expect(data).toMatchObject([{ cost_usd: '0.00007', provider_cost_usd: null }])
})

test('a customer does not see what the provider bills', async () => {
  const account = await gateway.account({ grant: '10' })
  gateway.upstream.reply(chatAnswer({ usage: { ...counts, cost: 0.000_123 } }))
  await chat(account.key, 'priced')

  const seen = await Promise.all(
    ['/v1/usage', '/v1/statement', '/v1/balance'].map(path => gateway.read<object>(account.key, path)),
  )

  expect(JSON.stringify(seen)).not.toMatch(/provider|0\.000123/)
})
