import Anthropic0 from '@anthropic-ai/sdk'
import Anthropic1 from 'anthropic-1'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import OpenAI7 from 'openai'
import OpenAI4 from 'openai-4'
import OpenAI6 from 'openai-6'
import { rejection } from '../support/rejection.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

type Ask = (apiKey: string, content: string) => Promise<unknown>

const clock = fakeClock()
let gateway: TestGateway
/** The waits of the SDK before it sent a request again. */
let waitsMs: number[]
let timers: { mockRestore(): void }

beforeAll(async () => {
  gateway = await startTestGateway({ overrides: { clock } })
})
afterAll(() => gateway.stop())

/** Whether an SDK calls, and not what an earlier file left in this process. */
function isCalledBySdk(): boolean {
  return /node_modules\/(?:@anthropic-ai|anthropic|openai)\b/.test(new Error('the caller').stack ?? '')
}

/** A wait of an SDK passes on the clock of the gateway instead. Its limits for a whole request are minutes. */
beforeEach(() => {
  waitsMs = []
  const { setTimeout: setTimer } = globalThis
  timers = spyOn(globalThis, 'setTimeout').mockImplementation(((done: () => void, ms = 0) => {
    if (ms < 500 || ms > 60_000 || !isCalledBySdk()) return setTimer(done, ms)
    waitsMs.push(ms)
    clock.advance(ms)
    return setTimer(done, 0)
  }) as typeof setTimeout)
})
afterEach(() => timers.mockRestore())

const openAi =
  (OpenAI: typeof OpenAI7): Ask =>
  (apiKey, content) =>
    new OpenAI({ apiKey, baseURL: `${gateway.url}/v1` }).chat.completions.create({
      model: 'sandbox-chat',
      max_tokens: 5,
      messages: [{ role: 'user', content }],
    })

const anthropic =
  (Anthropic: typeof Anthropic1): Ask =>
  (apiKey, content) =>
    new Anthropic({ apiKey, baseURL: gateway.url }).messages.create({
      model: 'sandbox-chat',
      max_tokens: 5,
      messages: [{ role: 'user', content }],
    })

/** A key with these limits. */
async function aKey(limits: object): Promise<string> {
  const { id } = await gateway.account()
  const created = await gateway.admin<{ id: string; key: string }>('POST', `accounts/${id}/keys`, {})
  await gateway.admin('PATCH', `keys/${created.id}`, limits)
  return created.key
}

describe.each([
  ['OpenAI SDK 4', openAi(OpenAI4 as unknown as typeof OpenAI7)],
  ['OpenAI SDK 6', openAi(OpenAI6 as unknown as typeof OpenAI7)],
  ['OpenAI SDK 7', openAi(OpenAI7)],
  ['Anthropic SDK 0', anthropic(Anthropic0 as unknown as typeof Anthropic1)],
  ['Anthropic SDK 1', anthropic(Anthropic1)],
])('the %s', (_, ask) => {
  test('the SDK waits as long as a refusal says, and its one repeat is answered', async () => {
    const key = await aKey({ limits: { requests_per_minute: 2 } })

    const answers = [await ask(key, 'one'), await ask(key, 'two'), await ask(key, 'three')]

    expect(answers).toHaveLength(3)
    expect(waitsMs).toEqual([30_000])
  })

  test.each([
    ['needs more tokens than a minute allows', { limits: { tokens_per_minute: 1 } }, 429],
    ['exceeds a budget', { budgets: { month: '0' } }, 402],
  ])('the SDK does not repeat a request that %s', async (_, limits, status) => {
    const key = await aKey(limits)
    const send = () => ask(key, 'Hello')

    const error = await rejection(send())

    expect(error).toMatchObject({ status })
    expect(waitsMs).toEqual([])
  })
})
