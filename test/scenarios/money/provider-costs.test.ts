import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatAnswer, sse } from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { DONE, FINISH, HEL, ROLE, usage as usageFrame } from '../../support/stream-frames.ts'

let gateway: ScriptedGateway

const RESOLD = {
  pricing: 'upstream_cost',
  markup: '2',
  ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100' },
}
/** Where some providers report their cost. */
const reporting = [
  { id: 'xai', cost_field: 'usage.cost_in_usd_ticks', cost_unit: 'ticks' },
  { id: 'deepinfra', cost_field: 'usage.estimated_cost' },
  { id: 'perplexity', cost_field: 'usage.cost.total_cost' },
]

beforeAll(async () => {
  const resoldBy = (provider: string) =>
    chatModel(`by-${provider}`, { ...RESOLD, upstreams: [{ provider, model: 'x' }] })
  gateway = await startScriptedGateway({
    providers: baseUrl =>
      reporting.map(row => Object.assign({ kind: 'openai-compatible', base_url: baseUrl }, row)),
    models: [
      chatModel('priced'),
      chatModel('resold', RESOLD),
      chatModel('silent', RESOLD),
      chatModel('gift', { pricing: 'free' }),
      ...reporting.map(({ id }) => resoldBy(id)),
    ],
  })
})
afterAll(() => gateway.stop())

const counts = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

async function chat(key: string, model: string, request: object = {}): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...request }),
  })
  await response.text()
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
    await expectNothingHeld(gateway, account)
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

describe('a model is charged the cost that its provider reports', () => {
  const reports: [title: string, model: string, usage: object, providerCost: string, cost: string][] = [
    ['in ticks, as xAI does', 'by-xai', { cost_in_usd_ticks: 37_756_001 }, '0.003775601', '0.007551201'],
    [
      'as DeepInfra does, even with an exponent',
      'by-deepinfra',
      { estimated_cost: 1.234_567_8e-7 },
      '0.000000124',
      '0.000000247',
    ],
    [
      'as Perplexity does, with the fee for the request',
      'by-perplexity',
      { cost: { input_tokens_cost: 0.000_01, request_cost: 0.005, total_cost: 0.005_11 } },
      '0.00511',
      '0.01022',
    ],
    [
      'as OpenRouter does, with the cost that is billed to the customer’s own key',
      'resold',
      { cost: 0.000_5, is_byok: true, cost_details: { upstream_inference_cost: 0.01 } },
      '0.0105',
      '0.021',
    ],
  ]

  test.each(reports)(
    'a model is charged the cost that its provider reports %s',
    async (_, model, reported, providerCost, cost) => {
      const account = await gateway.account({ grant: '10' })
      const usage = { ...counts, ...reported }
      gateway.upstream.reply(chatAnswer({ usage }))
      await chat(account.key, model)
      gateway.upstream.reply(sse([ROLE, HEL, FINISH, usageFrame(usage), DONE]))
      await chat(account.key, model, { stream: true })

      const { data } = await gateway.admin<{ data: object[] }>('GET', `usage?account=${account.id}`)

      const charge = { cost_usd: cost, provider_cost_usd: providerCost, is_clamped: false }
      expect(data).toMatchObject([charge, charge])
      await expectNothingHeld(gateway, account)
    },
  )

  test('a model is charged the cost that its provider reports and nothing if another field has a cost, which is not guessed', async () => {
    const account = await gateway.account({ grant: '10' })
    gateway.upstream.reply(chatAnswer({ usage: { ...counts, cost: 0.5 } }))

    await chat(account.key, 'by-deepinfra')

    const { data } = await gateway.admin<{ data: object[] }>('GET', `usage?account=${account.id}`)
    expect(data).toMatchObject([{ cost_usd: '0', provider_cost_usd: null }])
  })
})

describe('doctor', () => {
  const checkOfCosts = async () => {
    const { checks } = await gateway.admin<{ checks: { name: string; ok: boolean; detail: string }[] }>(
      'GET',
      'doctor',
    )
    return checks.find(({ name }) => name === 'reported costs')
  }

  test('doctor fails if the last 20 answers of a model had no cost, until one has', async () => {
    const account = await gateway.account({ grant: '10' })
    const ask = async (usage: object) => {
      gateway.upstream.reply(chatAnswer({ usage: { ...counts, ...usage } }))
      await chat(account.key, 'silent')
    }
    await ask({ cost: 0.001 })
    for (let answers = 0; answers < 19; answers += 1) await ask({})
    // The charges of other models are between them.
    await chat(account.key, 'priced')
    const after19 = await checkOfCosts()
    await ask({})
    const after20 = await checkOfCosts()
    await ask({ cost: 0 })
    const afterCost = await checkOfCosts()

    expect(after19).toBeUndefined()
    expect(after20).toMatchObject({ ok: false, detail: expect.stringContaining('were free: silent.') })
    expect(afterCost).toBeUndefined()
  })
})
