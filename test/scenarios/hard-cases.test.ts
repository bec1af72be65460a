import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TestAccount } from '../support/gateway.ts'
import { chatAnswer } from '../support/upstream-replies.ts'
import { lanes } from './failover/fault-lanes.ts'
import { wholeAnswer } from './failover/fault-plays.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from './gateways/scripted-gateway.ts'

/** A request with 1 input token at 2 USD and at most 1,000 output tokens at 10 USD per million. */
const HELLO = { model: 'chat', messages: [{ role: 'user', content: 'Hello' }] }

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('chat'),
      chatModel('embedding', {
        kind: 'embedding',
        pricing: { input_per_mtok: '2' },
        max_output_tokens: undefined,
      }),
    ],
  })
})
afterAll(() => gateway.stop())

test('an account with a high balance holds the worst case like any other', async () => {
  const rich = await gateway.account({ grant: '1000000' })
  const poor = await gateway.account({ grant: '0.02' })
  const heldBy = async (account: TestAccount) => {
    const taken = gateway.upstream.hold()
    const asked = gateway.chat(account.key, HELLO)
    const exchange = await taken
    const { held_usd: held } = await account.balance()
    await chatAnswer()(exchange)
    await (await asked).text()
    return held
  }

  const held = await heldBy(rich)

  // The output alone costs 0.01 USD.
  expect(Number(held)).toBeGreaterThan(0.01)
  expect(await heldBy(poor)).toBe(held)
})

test('every text route, as JSON and as a stream, charges the same balance of its account', async () => {
  const ada = await gateway.account({ grant: '1' })
  let spent = 0

  for (const lane of lanes) {
    gateway.upstream.reply(wholeAnswer(lane, 'main'))
    const response = await fetch(gateway.url + lane.path, {
      method: 'POST',
      headers: { 'x-api-key': ada.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: lane.kind, ...lane.request }),
    })
    await response.text()
    spent += Number(lane.costs.answer)
    expect(await ada.balance()).toMatchObject({ available_usd: (1 - spent).toFixed(5), held_usd: '0' })
  }

  await expectNothingHeld(gateway, ada)
})

test('during a flood of invalid keys a valid key gets its answer, and no invalid request reaches an upstream', async () => {
  const { key } = await gateway.account()
  gateway.upstream.reply(chatAnswer())
  const before = gateway.upstream.requests.length

  const flood = Array.from({ length: 500 }, (_, index) => gateway.chat(`tg_live_${index}`, HELLO))
  const good = await gateway.chat(key, HELLO)

  expect(good.status).toBe(200)
  expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([401]))
  expect(gateway.upstream.requests).toHaveLength(before + 1)
})
