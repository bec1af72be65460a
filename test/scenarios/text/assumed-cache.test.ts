import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chunk, EVENT_STREAM, head, sse } from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
  type UsageRow,
} from '../gateways/scripted-gateway.ts'
import { askForStream, settledStream, type Asking } from '../streams/settled-stream.ts'
import { delta, DONE, FINISH, HEL, LO, ROLE, usage } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  // Only the input has a price, so that the costs show how it was counted.
  const pricing = { input_per_mtok: '2.4', cached_input_per_mtok: '0.48', output_per_mtok: '0' }
  gateway = await startScriptedGateway({
    models: [chatModel('gpt-x', { pricing }), chatModel('live', { pricing, messages_stream: 'live' })],
  })
  // The first estimate waits until the vocabulary is loaded.
  await settledStream(gateway, sse([HEL + DONE]))
})
afterAll(() => gateway.stop())

/** With the names of its fields, a request with this text has 20,000 tokens. */
const LONG = ' word'.repeat(19_996)
const asked = [{ role: 'user', content: LONG }]
const routes: readonly (readonly [string, Asking])[] = [
  ['a chat stream', { route: { path: '/v1/chat/completions', request: { messages: asked } } }],
  [
    'a live messages stream',
    { route: { path: '/v1/messages', request: { model: 'live', max_tokens: 100, messages: asked } } },
  ],
]

test.each(routes)(
  '%s that is interrupted costs 0.0096 like the whole answer before it, not 0.048',
  async (_, asking) => {
    const account = await gateway.account()
    await complete(account, asking, 20_000)

    await interrupt(account, asking)

    const [interrupted, whole] = await usageOf(account, 2)
    expect(whole).toMatchObject({ cost_usd: '0.0096', source: 'reported' })
    expect(whole!.usage['assumed_cached_tokens']).toBeUndefined()
    expect(interrupted).toMatchObject({
      cost_usd: '0.0096',
      source: 'estimated',
      usage: { input_tokens: 20_000, cached_input_tokens: 20_000, assumed_cached_tokens: 20_000 },
    })
    const { data } = await gateway.admin<{ data: UsageRow[] }>('GET', `usage?account=${account.id}`)
    expect(data[0]!.usage).toEqual(interrupted!.usage)
    await expectNothingHeld(gateway, account)
  },
)

test.each(routes)('%s without a complete request before it costs its whole input', async (_, asking) => {
  const account = await gateway.account()

  await interrupt(account, asking)

  expect(await usageOf(account, 1)).toMatchObject([{ cost_usd: '0.048', source: 'estimated' }])
})

test('no more counts as cached than the last complete request reported', async () => {
  const [[, chat]] = routes as readonly [(typeof routes)[number]]
  const account = await gateway.account()
  await complete(account, chat, 15_000)

  await interrupt(account, chat)

  // 5,000 tokens at 2.40 USD and 15,000 at 0.48 USD per million.
  expect((await usageOf(account, 2))[0]).toMatchObject({ cost_usd: '0.0192' })
})

test('the usage of a stream that broke off says nothing about the cache', async () => {
  const [[, chat]] = routes as readonly [(typeof routes)[number]]
  const account = await gateway.account()
  gateway.upstream.reply(sse([ROLE + HEL + LO + usage(countsWith(20_000))]))
  await (await askForStream(gateway, account, chat)).text()
  await usageOf(account, 1)

  await interrupt(account, chat)

  const [interrupted, broken] = await usageOf(account, 2)
  expect(broken).toMatchObject({ cost_usd: '0.0096', source: 'reported' })
  expect(interrupted).toMatchObject({ cost_usd: '0.048', source: 'estimated' })
})

test('a JSON answer without a usage counts its input in the same way', async () => {
  const [[, chat]] = routes as readonly [(typeof routes)[number]]
  const account = await gateway.account()
  await complete(account, chat, 20_000)
  const answer = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  }
  gateway.upstream.reply(async exchange => {
    const body = JSON.stringify(answer)
    await exchange.write(
      head(200, { 'content-type': 'application/json', 'content-length': `${body.length}` }) + body,
    )
  })

  await (await gateway.chat(account.key, { model: 'gpt-x', messages: asked })).text()

  expect((await usageOf(account, 2))[0]).toMatchObject({ cost_usd: '0.0096', source: 'estimated' })
})

/** A usage with these cached tokens. */
function countsWith(cachedTokens: number) {
  return {
    prompt_tokens: 20_000,
    completion_tokens: 5,
    total_tokens: 20_005,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  }
}

/** A stream that ends well and reports these cached tokens. */
async function complete(account: TestAccount, asking: Asking, cachedTokens: number): Promise<void> {
  gateway.upstream.reply(sse([ROLE + HEL + LO + FINISH + usage(countsWith(cachedTokens)) + DONE]))
  await (await askForStream(gateway, account, asking)).text()
  await usageOf(account, 1)
}

/** A stream whose client disconnects after its first output. */
async function interrupt(account: TestAccount, asking: Asking): Promise<void> {
  const upstream = gateway.upstream.hold()
  const client = new AbortController()
  const response = askForStream(gateway, account, { ...asking, signal: client.signal })
  const exchange = await upstream
  await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
  await exchange.write(chunk(ROLE + delta({ content: 'Hello there, ' })))
  await (await response).body!.getReader().read()
  client.abort()
  await exchange.closed
}

/** The charges of an account, newest first, when there are as many. */
async function usageOf(account: TestAccount, count: number): Promise<readonly UsageRow[]> {
  let rows: readonly UsageRow[] = []
  await until('all are charged', async () => {
    rows = (await gateway.read<{ data: UsageRow[] }>(account.key, '/v1/usage')).data
    return rows.length === count
  })
  return rows
}
