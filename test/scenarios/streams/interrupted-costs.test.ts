import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, EVENT_STREAM, head, sse } from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import { askForStream, openedStream, restOf, settledStream, settlementOf } from './settled-stream.ts'
import { delta, DONE, FINISH, HEL, LO, ROLE, usage } from '../../support/stream-frames.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  const metered = { id: 'metered', kind: 'openai-compatible', cost_header: 'x-cost-usd', retries: 0 }
  const resold = {
    pricing: 'upstream_cost',
    markup: '1.2',
    ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100', cached_input_per_mtok: '5' },
    max_output_tokens: 8000,
  }
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('resold', resold),
      chatModel('by-header', { ...resold, upstreams: [{ provider: 'metered', model: 'x' }] }),
    ],
    providers: baseUrl => [{ ...metered, base_url: baseUrl }],
  })
  // The first estimate waits until the vocabulary is loaded.
  await settledStream(gateway, sse([HEL + DONE]))
})
afterAll(() => gateway.stop())

const RESOLD = { body: { model: 'resold' } } as const
/** The texts of the request are five tokens: 5 × 20 and one of output × 100 USD per million. */
const ESTIMATE_OF_HEL = { cost_usd: '0.0002', source: 'estimated', is_clamped: false } as const

describe('an interrupted stream at the upstream’s own cost', () => {
  test('an interrupted stream at the upstream’s own cost that its client left after 5,200 of 6,000 tokens is charged the estimate at the ceiling prices', async () => {
    const answer = ROLE + delta({ content: ' word'.repeat(5200) })
    const { account, exchange, leave } = await left(answer)

    leave()
    await exchange.closed

    // The tokenizer counts a long text in pieces, which makes four tokens more.
    expect(await settlementOf(gateway, account)).toEqual({ ...ESTIMATE_OF_HEL, cost_usd: '0.5205' })
    await expectNothingHeld(gateway, account)
  })

  test('an interrupted stream at the upstream’s own cost that the upstream broke is charged the estimate at the ceiling prices', async () => {
    const { account, exchange, reader } = await openedStream(gateway, HEL, RESOLD)

    exchange.reset()
    await restOf(reader)

    expect(await settlementOf(gateway, account)).toEqual(ESTIMATE_OF_HEL)
    await expectNothingHeld(gateway, account)
  })

  test('an interrupted stream at the upstream’s own cost that went silent is charged the estimate at the ceiling prices', async () => {
    const { account, reader } = await openedStream(gateway, HEL, RESOLD)

    gateway.clock.advance(60_000)
    await restOf(reader)

    expect(await settlementOf(gateway, account)).toEqual(ESTIMATE_OF_HEL)
  })

  test('an interrupted stream at the upstream’s own cost is charged nothing if it produced nothing', async () => {
    const { account, exchange, leave } = await left(ROLE)

    leave()
    await exchange.closed

    expect(await settlementOf(gateway, account)).toBeNull()
  })

  test('an interrupted stream at the upstream’s own cost is charged the cost that the upstream had reported before, with the markup', async () => {
    const counts = { prompt_tokens: 10, completion_tokens: 1, cost: 0.0001 }
    const { account, exchange, leave } = await left(delta({ content: 'Hel' }, 0, { usage: counts }))

    leave()
    await exchange.closed

    expect(await settlementOf(gateway, account)).toEqual({
      cost_usd: '0.00012',
      source: 'reported',
      is_clamped: false,
    })
  })

  test('an interrupted stream at the upstream’s own cost is charged the cost of the header that came with its head', async () => {
    const account = await gateway.account()
    const upstream = gateway.upstream.hold()
    const client = new AbortController()
    const asked = askForStream(gateway, account, { body: { model: 'by-header' }, signal: client.signal })
    const exchange = await upstream
    await exchange.write(
      head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked', 'x-cost-usd': '0.0001' }),
    )
    await exchange.write(chunk(HEL))
    await (await asked).body!.getReader().read()

    client.abort()
    await exchange.closed

    expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.00012' })
  })

  test('an interrupted stream at the upstream’s own cost is charged the usage that the upstream reported, at the ceiling prices', async () => {
    const counts = {
      prompt_tokens: 10,
      completion_tokens: 3,
      prompt_tokens_details: { cached_tokens: 4 },
    }
    const { account, exchange, leave } = await left(delta({ content: 'Hel' }, 0, { usage: counts }))

    leave()
    await exchange.closed

    expect(await settlementOf(gateway, account)).toEqual({
      cost_usd: '0.00044',
      source: 'reported',
      is_clamped: false,
    })
    await expectNothingHeld(gateway, account)
  })

  test('an interrupted stream at the upstream’s own cost is charged at most its hold, and the charge can be computed again', async () => {
    const counts = { prompt_tokens: 50_000, completion_tokens: 3 }
    const { account, exchange, leave } = await left(delta({ content: 'Hel' }, 0, { usage: counts }))
    const { held_usd } = await account.balance()

    leave()
    await exchange.closed
    const charge = await settlementOf(gateway, account)

    expect(charge).toMatchObject({ source: 'reported', is_clamped: true })
    expect(Number(charge?.cost_usd)).toBeLessThan(Number(held_usd))
    expect(Number(charge?.cost_usd)).toBeGreaterThan(0)
    await expectNothingHeld(gateway, account)
  })

  test('an interrupted stream at the upstream’s own cost is not counted as an unreported cost', async () => {
    const series = 'tollgate_unreported_costs_total{model="resold"}'
    const before = await gateway.metric(series)
    const { account, exchange, leave } = await left(HEL)

    leave()
    await exchange.closed
    await settlementOf(gateway, account)

    expect(await gateway.metric(series)).toBe(before)
  })
})

test('a stream that ended well without a reported cost stays free', async () => {
  const { charge } = await settledStream(gateway, sse([ROLE + HEL + LO + FINISH + usage() + DONE]), RESOLD)

  expect(charge).toMatchObject({ cost_usd: '0' })
})

/** A stream of the resold model, of which the client has read `sent`. */
async function left(sent: string) {
  const client = new AbortController()
  const opened = await openedStream(gateway, sent, { ...RESOLD, signal: client.signal })
  return { ...opened, leave: () => client.abort() }
}
