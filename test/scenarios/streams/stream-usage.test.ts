import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sse } from '../../support/upstream-replies.ts'
import {
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { askForStream, settlementOf, type Asking } from './settled-stream.ts'
import { COST_OF_HELLO, DONE, FINISH, finish, HEL, LO, renamed, usage } from '../../support/stream-frames.ts'

/** Twenty of the tokens are reasoning, which no frame shows. */
const USAGE = usage({
  prompt_tokens: 10,
  completion_tokens: 25,
  completion_tokens_details: { reasoning_tokens: 20 },
})
const COST = '0.00027'
const SHOWN = HEL + LO + FINISH
/** An upstream that streams usage only to those who ask. */
const withUsage = sse([SHOWN + USAGE + DONE])
const withoutUsage = sse([SHOWN + DONE])

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({ provider: { stream_usage: 'ask' } })
})
afterAll(() => gateway.stop())

async function ask(asking: Asking = {}, reply = withUsage) {
  gateway.upstream.reply(reply)
  const account = await gateway.account()
  const response = await askForStream(gateway, account, asking)
  const text = await response.text()
  const charge = await settlementOf(gateway, account)
  await expectNothingHeld(gateway, account)
  const sent = lastRequest(gateway)
  return { text, charge, sent }
}

function lastRequest({ upstream }: ScriptedGateway): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(upstream.requests.at(-1)!.body)) as Record<string, unknown>
}

describe('with stream_usage: ask, a chat stream whose client did not ask for usage', () => {
  test.each<[string, object]>([
    ['has no stream_options', {}],
    ['has stream_options of null', { stream_options: null }],
    ['refuses usage', { stream_options: { include_usage: false } }],
  ])(
    'with stream_usage: ask, a chat stream whose client did not ask for usage and %s is charged the reported usage, and has no usage frame',
    async (_, body) => {
      const { text, charge, sent } = await ask({ body: { ...body } })

      expect(sent['stream_options']).toEqual({ include_usage: true })
      expect(text).toBe(SHOWN + DONE)
      expect(charge).toMatchObject({ cost_usd: COST, source: 'reported' })
    },
  )

  test('with stream_usage: ask, a chat stream whose client did not ask for usage keeps a usage in a frame with choices', async () => {
    const last = finish('stop', 0, { usage: { prompt_tokens: 10, completion_tokens: 5 } })

    const { text, charge } = await ask({}, sse([HEL + LO + last + DONE]))

    expect(text).toBe(HEL + LO + last + DONE)
    expect(charge).toMatchObject({ cost_usd: '0.00007', source: 'reported' })
  })

  test('with stream_usage: ask, a chat stream whose client did not ask for usage is charged an estimate if the upstream still reports no usage', async () => {
    const { text, charge } = await ask({}, withoutUsage)

    expect(text).toBe(SHOWN + DONE)
    expect(charge).toMatchObject({ cost_usd: COST_OF_HELLO, source: 'estimated' })
  })

  test('with stream_usage: ask, a chat stream whose client did not ask for usage has no usage frame of several that report cumulative usage', async () => {
    const early = usage({ prompt_tokens: 10, completion_tokens: 1 })

    const { text, charge } = await ask({}, sse([early + HEL + early + LO + FINISH + USAGE + DONE]))

    expect(text).toBe(SHOWN + DONE)
    expect(charge).toMatchObject({ cost_usd: COST, source: 'reported' })
  })

  test('with stream_usage: ask, a chat stream whose client did not ask for usage that breaks has no usage frame and is charged what was reported', async () => {
    const early = usage({ prompt_tokens: 10, completion_tokens: 5 })

    const { text, charge } = await ask({}, sse([HEL + early]))

    expect(text).toStartWith(HEL)
    expect(text).not.toContain('"usage"')
    expect(charge).toMatchObject({ cost_usd: '0.00007', source: 'reported' })
  })
})

test('with stream_usage: ask, a client that asks for usage gets it with the cost', async () => {
  const { text, charge, sent } = await ask({ includeUsage: true })

  expect(sent['stream_options']).toEqual({ include_usage: true })
  const details = '{"reasoning_tokens":20}'
  expect(text).toBe(renamed(SHOWN + USAGE + DONE).replace(details, `${details},"cost_usd":"${COST}"`))
  expect(charge).toMatchObject({ cost_usd: COST, source: 'reported' })
})

test('with stream_usage: ask, a JSON request does not change', async () => {
  const account = await gateway.account()

  const body = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }] }
  await (await gateway.chat(account.key, body)).text()

  expect(lastRequest(gateway)).not.toHaveProperty('stream_options')
})

test('without stream_usage, the upstream is not asked for usage', async () => {
  const plain = await startScriptedGateway()
  plain.upstream.reply(withoutUsage)

  const response = await askForStream(plain, await plain.account())
  await response.text()

  expect(lastRequest(plain)).not.toHaveProperty('stream_options')
  await plain.stop()
})
