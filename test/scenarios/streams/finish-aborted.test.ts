import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, sse } from '../../support/upstream-replies.ts'
import {
  chatModel,
  expectNothingHeld,
  startScriptedGateway,
  type ScriptedGateway,
} from '../gateways/scripted-gateway.ts'
import {
  askForStream,
  openedStream,
  restOf,
  settledStream,
  settlementOf,
  type Asking,
} from './settled-stream.ts'
import { DONE, FINISH, HEL, LO, ROLE, usage } from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  const resold = {
    pricing: 'upstream_cost',
    ceiling_pricing: { input_per_mtok: '20', output_per_mtok: '100' },
  }
  gateway = await startScriptedGateway({
    provider: { finish_aborted: true },
    models: [chatModel('gpt-x'), chatModel('resold', resold)],
    environment: { TOLLGATE_REPLAY_TTL_S: '60' },
  })
  // The first estimate waits until the vocabulary is loaded.
  await settledStream(gateway, sse([HEL + DONE]))
})
afterAll(() => gateway.stop())

/** With replays, identical requests share a stream. Without, the request's own client is watched. */
const asAre = [
  ['with replays', {}],
  ['without replays', { headers: { 'x-service-idempotency': 'bypass' } }],
] as const satisfies readonly (readonly [string, Asking])[]

describe.each(asAre)('a client that disconnects from a provider with finish_aborted, %s,', (_, asking) => {
  test('a client that disconnects from a provider with finish_aborted pays for the whole answer, and its money is held until the end', async () => {
    const { account, exchange, leave } = await left(HEL, asking)
    const before = await account.balance()

    leave()
    await isFinishing()
    const during = await account.balance()
    await exchange.write(chunk(LO + FINISH + usage() + DONE))
    const charge = await settlementOf(gateway, account)

    expect(during).toEqual(before)
    expect(Number(during.held_usd)).toBeGreaterThan(0)
    expect(charge).toEqual({ cost_usd: '0.00007', source: 'reported', is_clamped: false })
    await expectNothingHeld(gateway, account)
  })

  test('a client that disconnects from a provider with finish_aborted pays the upstream’s own cost, if the row charges that', async () => {
    const { account, exchange, leave } = await left(HEL, { ...asking, body: { model: 'resold' } })

    leave()
    await isFinishing()
    await exchange.write(
      chunk(LO + FINISH + usage({ prompt_tokens: 10, completion_tokens: 5, cost: 0.0015 }) + DONE),
    )

    expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.0015', source: 'reported' })
  })

  test('a client that disconnects from a provider with finish_aborted pays the estimate at the ceiling prices, if the upstream’s own cost is never reported', async () => {
    const { account, exchange, leave } = await left(HEL, { ...asking, body: { model: 'resold' } })

    leave()
    await isFinishing()
    await exchange.write(chunk(LO + FINISH + DONE))

    expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.0002', source: 'estimated' })
    await expectNothingHeld(gateway, account)
  })

  test('a client that disconnects from a provider with finish_aborted pays nothing before the first output, and the upstream call is ended', async () => {
    const { account, exchange, leave } = await left(ROLE, asking)

    leave()

    await exchange.closed
    expect(await settlementOf(gateway, account)).toBeNull()
  })

  test('a client that disconnects from a provider with finish_aborted pays nothing before the upstream’s first byte, and the upstream call is ended', async () => {
    const account = await gateway.account()
    const upstream = gateway.upstream.hold()
    const client = new AbortController()
    const asked = askForStream(gateway, account, { ...asking, signal: client.signal })
    const exchange = await upstream

    client.abort()

    expect(await asked.catch((error: unknown) => error)).toMatchObject({ name: 'AbortError' })
    await exchange.closed
    expect(await settlementOf(gateway, account)).toBeNull()
  })

  test('a client that disconnects from a provider with finish_aborted pays for what was received after ten minutes, and the upstream call is ended', async () => {
    const { account, exchange, leave } = await left(HEL, asking)
    leave()
    await isFinishing()

    // Each piece is within the idle limit, and the hold is renewed meanwhile.
    const held = new Set<string>()
    for (let pieces = 0; pieces < 20; pieces += 1) {
      await exchange.write(chunk(': still here\n\n'))
      held.add((await account.balance()).held_usd)
      gateway.clock.advance(30_000)
    }

    await exchange.closed
    expect([...held]).toEqual([expect.not.stringMatching(/^0$/)])
    expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.00002', source: 'estimated' })
    await expectNothingHeld(gateway, account)
  })
})

test('a follower of the stream gets the rest after the first client has disconnected', async () => {
  const { account, exchange, leave } = await left(HEL)
  const follower = await askForStream(gateway, account)

  leave()
  await exchange.write(chunk(LO + FINISH + usage() + DONE))
  await exchange.write('0\r\n\r\n')

  expect(await follower.text()).toBe(HEL + LO + FINISH + usage() + DONE)
  expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.00007' })
})

test('an identical request does not join a stream that is only finished for its charge', async () => {
  const { account, exchange, leave } = await left(HEL)
  leave()
  await isFinishing()
  gateway.upstream.reply(sse([HEL + LO + FINISH + usage() + DONE]))

  const again = await askForStream(gateway, account)
  const body = await again.text()
  await exchange.write(chunk(LO + FINISH + usage() + DONE))

  expect(again.headers.get('x-service-replay')).toBeNull()
  expect(body).toBe(HEL + LO + FINISH + usage() + DONE)
  await until('both are charged', async () => {
    const { data } = await gateway.read<{ data: object[] }>(account.key, '/v1/usage')
    return data.length === 2
  })
})

test('a stream that is read to its end by its client is charged as usual', async () => {
  const { account, exchange, reader } = await openedStream(gateway, HEL)

  await exchange.write(chunk(LO + FINISH + usage() + DONE))
  await exchange.write('0\r\n\r\n')
  await restOf(reader)

  expect(await settlementOf(gateway, account)).toMatchObject({ cost_usd: '0.00007', source: 'reported' })
})

/** A stream of which the client has read `sent`. */
async function left(sent: string, asking: Asking = {}) {
  const client = new AbortController()
  const opened = await openedStream(gateway, sent, { ...asking, signal: client.signal })
  return { ...opened, leave: () => client.abort() }
}

function isFinishing(): Promise<void> {
  return until('the gateway reads on', async () => (await gateway.metric('tollgate_finishing_streams')) === 1)
}
