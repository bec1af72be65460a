import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formatUsd, nanoUsd, usd } from '../../../src/domain/money.ts'
import { chatAnswer } from '../../support/upstream-replies.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

type Refused = {
  readonly error: { readonly message: string }
  readonly required_usd: string
  readonly available_usd: string
  readonly held_usd: string
  readonly max_affordable_output_tokens?: number
}

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('fee', { pricing: { input_per_mtok: '2', output_per_mtok: '10', per_request: '0.002' } }),
      chatModel('capped', {
        max_output_tokens: 4096,
        pricing: { input_per_mtok: '0', output_per_mtok: '10' },
      }),
      {
        id: 'embed',
        kind: 'embedding',
        upstreams: [{ provider: 'main', model: 'e' }],
        pricing: { input_per_mtok: '2' },
      },
      chatModel('gift', { pricing: 'free' }),
      chatModel('input-only', { pricing: { input_per_mtok: '2', output_per_mtok: '0' } }),
      chatModel('resold', {
        pricing: 'upstream_cost',
        ceiling_pricing: { input_per_mtok: '2', output_per_mtok: '10' },
      }),
    ],
  })
  gateway.upstream.reply(chatAnswer({ usage: { prompt_tokens: 1, completion_tokens: 1 } }))
})
afterAll(() => gateway.stop())

async function refused(key: string, body: object): Promise<Refused> {
  const response = await gateway.chat(key, body)
  expect(response.status).toBe(402)
  return (await response.json()) as Refused
}

const messages = [{ role: 'user', content: 'Tell me all about it.' }]

test('a 402 names the required, available and held amounts, and an output ceiling that fits', async () => {
  const { key } = await gateway.account({ grant: '0.005' })

  const response = await gateway.chat(key, { model: 'gpt-x', messages })
  const body = (await response.clone().json()) as Refused
  const refusal = await refusalOf(response)

  expect(refusal).toMatchObject({ status: 402, type: 'insufficient_balance', code: 'insufficient_balance' })
  expect(body).toMatchObject({ available_usd: '0.005', held_usd: '0' })
  expect(usd(body.required_usd)).toBeGreaterThan(usd('0.01'))
  expect(body.max_affordable_output_tokens).toBeGreaterThan(490)
  expect(refusal.message).toBe(
    `This request must hold ${body.required_usd} USD: for about 14 input tokens and up to 1000 output tokens, ` +
      'the limit of the model, because `max_tokens` is not set. The available balance is 0.005 USD. ' +
      `Set \`max_tokens\` to ${body.max_affordable_output_tokens} or less, or add funds.`,
  )
})

test.each<[string, object, string]>([
  ['its own', { model: 'gpt-x', max_tokens: 900 }, 'and up to 900 output tokens, its `max_tokens`.'],
  [
    'one above the limit of the model',
    { model: 'gpt-x', max_completion_tokens: 100_000 },
    'and up to 1000 output tokens, the limit of the model.',
  ],
  [
    'one for three choices',
    { model: 'gpt-x', n: 3, max_tokens: 900 },
    'and up to 3 × 900 output tokens, its `max_tokens`.',
  ],
])('a 402 names the output ceiling that it comes from: %s', async (_, body, ceiling) => {
  const { key } = await gateway.account({ grant: '0.005' })

  const { message } = await refusalOf(await gateway.chat(key, { messages, ...body }))

  expect(message).toContain(ceiling)
})

test('a 402 for embeddings names no output ceiling', async () => {
  const { key } = await gateway.account({ grant: '0' })

  const response = await fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'embed', input: 'Hello' }),
  })

  expect((await refusalOf(response)).message).toMatch(
    /^This request must hold 0\.\d+ USD: for about \d+ input tokens\. The available balance is 0 USD\. Add funds\.$/,
  )
})

test.each([
  ['chat', 'chat/completions', { messages }, 'max_completion_tokens', { max_completion_tokens: 5000 }],
  ['responses', 'responses', { input: 'Tell me all about it.' }, 'max_output_tokens', {}],
  ['messages', 'messages', { messages }, 'max_tokens', { max_tokens: 5000 }],
])('a 402 on %s names the field that the route reads', async (_route, path, input, field, ceiling) => {
  const { key } = await gateway.account({ grant: '0.005' })

  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', ...input, ...ceiling }),
  })
  const { error } = (await response.json()) as { error: { message: string } }

  expect(response.status).toBe(402)
  expect(error.message).toMatch(new RegExp(`Set \`${field}\` to \\d+ or less, or add funds\\.$`))
})

test('requests with a ceiling above that of their model hold only what the model can produce', async () => {
  const account = await gateway.account({ grant: '0.6' })
  const taken = [gateway.upstream.hold(), gateway.upstream.hold()]
  const body = { model: 'capped', messages, max_tokens: 32_000 }

  const replies = [gateway.chat(account.key, body), gateway.chat(account.key, body)]
  const exchanges = await Promise.all(taken)
  const { held_usd } = await account.balance()
  for (const exchange of exchanges) await chatAnswer()(exchange)

  expect(held_usd).toBe('0.08192')
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200])
})

test('the amount held by running requests is not part of the available amount', async () => {
  const { key } = await gateway.account({ grant: '0.015' })
  const taken = gateway.upstream.hold()
  const running = gateway.chat(key, { model: 'gpt-x', messages })
  const exchange = await taken

  // More than the whole balance, so that waiting for the running request does not help.
  const { available_usd, held_usd } = await refused(key, { model: 'gpt-x', messages, n: 5 })
  await chatAnswer()(exchange)
  await running

  expect(usd(held_usd)).toBeGreaterThan(usd('0.01'))
  expect(formatUsd(nanoUsd(usd(available_usd) + usd(held_usd)))).toBe('0.015')
})

test('a grant reaches a request that waits for money held by running requests', async () => {
  const { id, key } = await gateway.account({ grant: '0.015' })
  const [taken, takenNext] = [gateway.upstream.hold(), gateway.upstream.hold()]
  const running = gateway.chat(key, { model: 'gpt-x', messages })
  const exchange = await taken
  const waiting = gateway.chat(key, { model: 'gpt-x', messages, seed: 2 })
  await until('it waits', async () => (await gateway.metric('tollgate_hold_waiters')) === 1)

  await gateway.admin('POST', `accounts/${id}/grants`, { amount_usd: '1' })
  await chatAnswer()(await takenNext)
  const { status } = await waiting
  await chatAnswer()(exchange)
  await running

  expect(status).toBe(200)
})

describe('the same request passes with the output ceiling of the 402, and fails with one token more:', () => {
  test.each<[string, object]>([
    ['a request without an output ceiling', { model: 'gpt-x' }],
    ['one with an output ceiling above the row’s', { model: 'gpt-x', max_tokens: 100_000 }],
    ['one with max_completion_tokens', { model: 'gpt-x', max_completion_tokens: 2000 }],
    ['one for three choices', { model: 'gpt-x', n: 3 }],
    ['one with a price per request', { model: 'fee' }],
    ['one with the upstream’s own cost', { model: 'resold' }],
    ['one with a long text', { model: 'gpt-x', user: 'é'.repeat(300) }],
  ])(
    'the same request passes with the output ceiling of the 402, and fails with one token more: %s',
    async (_, body) => {
      for (const field of ['max_tokens', 'max_completion_tokens']) {
        const { key } = await gateway.account({ grant: '0.004' })
        const { max_affordable_output_tokens: ceiling = 0 } = await refused(key, { messages, ...body })
        const again = { messages, ...body, max_tokens: undefined, max_completion_tokens: undefined }

        await refused(key, { ...again, [field]: ceiling + 1 })
        const passed = await gateway.chat(key, { ...again, [field]: ceiling })

        expect(passed.status).toBe(200)
      }
    },
  )
})

describe('the 402 has no output ceiling if none fits:', () => {
  test.each<[string, string, object]>([
    ['an empty balance', '0', { model: 'gpt-x' }],
    ['an input that already costs too much', '0.0001', { model: 'gpt-x', user: 'x'.repeat(10_000) }],
    ['a price per request that is already too much', '0.001', { model: 'fee' }],
    ['a row with free output', '0.000001', { model: 'input-only' }],
  ])('the 402 has no output ceiling if none fits: %s', async (_, grant, body) => {
    const { key } = await gateway.account({ grant })

    const refusal = await refused(key, { messages, ...body })

    expect(refusal).not.toHaveProperty('max_affordable_output_tokens')
    expect(refusal.error.message).toMatch(
      /^This request must hold [\d.]+ USD: for about \d+ input tokens and up to 1000 output tokens, the limit of the model, because `max_tokens` is not set\. The available balance is [\d.]+ USD\. No lower `max_tokens` would fit\. Add funds\.$/,
    )
  })
})

test('a balance of exactly the worst case is enough, and one nano-USD less is not', async () => {
  const poor = await gateway.account({ grant: '0' })
  const { required_usd } = await refused(poor.key, { model: 'gpt-x', messages })
  const before = gateway.upstream.requests.length

  await gateway.admin('POST', `accounts/${poor.id}/grants`, {
    amount_usd: formatUsd(nanoUsd(usd(required_usd) - 1n)),
  })
  await refused(poor.key, { model: 'gpt-x', messages })
  await gateway.admin('POST', `accounts/${poor.id}/grants`, { amount_usd: '0.000000001' })
  const passed = await gateway.chat(poor.key, { model: 'gpt-x', messages })

  expect(passed.status).toBe(200)
  expect(gateway.upstream.requests.length - before).toBe(1)
})

test('an account below zero can call only free models', async () => {
  const { key } = await gateway.account({ grant: '0.02' })
  gateway.upstream.reply(chatAnswer({ usage: { prompt_tokens: 50_000, completion_tokens: 1 } }), chatAnswer())
  await gateway.chat(key, { model: 'gpt-x', messages })

  const refusal = await refused(key, { model: 'gpt-x', messages, max_tokens: 1 })

  expect(refusal).toMatchObject({ available_usd: '-0.08001', held_usd: '0' })
  expect((await gateway.chat(key, { model: 'gift', messages })).status).toBe(200)
})
