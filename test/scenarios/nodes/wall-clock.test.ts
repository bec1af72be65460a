import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { FAILURES_BEFORE_OPEN, OPEN_MS_FIRST } from '../../../src/gateway/upstreams/upstream-health.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { chatAnswer, json } from '../../support/upstream-replies.ts'
import { chatModel, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { until } from '../../support/until.ts'

const HOUR_MS = 3_600_000
const READ_MS = 3_000
const HOLD_WAIT_MS = 2_000
const REPLAY_TTL_MS = 60_000

let gateway: ScriptedGateway
let ada: TestAccount

beforeEach(async () => {
  gateway = await startScriptedGateway({
    models: [
      chatModel('gpt-x'),
      chatModel('gpt-two', {
        upstreams: [
          { provider: 'main', model: 'first', order: 1 },
          { provider: 'main', model: 'second', order: 2 },
        ],
      }),
    ],
    environment: {
      TOLLGATE_READ_TIMEOUT_S: String(READ_MS / 1000),
      TOLLGATE_HOLD_WAIT_S: String(HOLD_WAIT_MS / 1000),
      TOLLGATE_REPLAY_TTL_S: String(REPLAY_TTL_MS / 1000),
    },
  })
  ada = await gateway.account()
})
afterEach(() => gateway.stop())

let sent = 0

/** A request unlike all others, so that none of them replays its answer. */
function ask(account = ada, model = 'gpt-x'): Promise<Response> {
  sent += 1
  return gateway.chat(account.key, { model, messages: [], seed: sent })
}

/**
 * A request that has reached the upstream, which does not answer. Its status is undefined until the gateway replies.
 */
async function hangingRequest(): Promise<{ status: number | undefined; readonly reply: Promise<Response> }> {
  const taken = gateway.upstream.hold()
  const reply = ask()
  await taken
  const request = { status: undefined as number | undefined, reply }
  void reply.then(({ status }) => (request.status = status))
  return request
}

/** Sets the wall clock, as an operator or NTP does. */
function stepWallClock(stepMs: number): void {
  gateway.clock.setWallClock(gateway.clock.now() + stepMs)
}

/** A whole request to the gateway and back: a reply that was due before it has arrived. */
async function roundTrip(): Promise<void> {
  await gateway.metric('tollgate_late_calls')
}

describe.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('when the wall clock is set %s an hour', (_direction, stepMs) => {
  test('a read timeout of 3 s stays 3 s', async () => {
    const first = await hangingRequest()
    gateway.clock.advance(1_000)
    const second = await hangingRequest()
    stepWallClock(stepMs)

    gateway.clock.advance(READ_MS - 1_000 - 1)
    await roundTrip()
    const early = [first.status, second.status]
    gateway.clock.advance(1)
    await first.reply
    await roundTrip()
    const between = [first.status, second.status]
    gateway.clock.advance(1_000 - 1)
    await roundTrip()
    const late = [first.status, second.status]
    gateway.clock.advance(1)
    await second.reply

    expect([early, between, late]).toEqual([
      [undefined, undefined],
      [504, undefined],
      [504, undefined],
    ])
    expect(second.status).toBe(504)
  })

  test('a request waits for held money as long as before', async () => {
    const poor = await gateway.account({ grant: '0.012' })
    const taken = gateway.upstream.hold()
    const running = ask(poor)
    const exchange = await taken
    const waiting = ask(poor)
    const waiters = () => gateway.metric('tollgate_hold_waiters')
    await until('the second request waits', async () => (await waiters()) === 1)
    stepWallClock(stepMs)

    gateway.clock.advance(HOLD_WAIT_MS - 1)
    const early = await waiters()
    gateway.clock.advance(1)
    const { status } = await waiting
    await chatAnswer()(exchange)
    await running

    expect(early).toBe(1)
    expect(status).toBe(429)
  })

  test('a stored answer keeps its TTL', async () => {
    const request = { model: 'gpt-x', messages: [], seed: 'replayed' }
    const send = () => gateway.chat(ada.key, request)
    await send()
    stepWallClock(stepMs)

    gateway.clock.advance(REPLAY_TTL_MS - 1)
    await send()
    const early = gateway.upstream.requests.length
    gateway.clock.advance(1)
    await send()

    expect(early).toBe(1)
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('a circuit breaker stays open for its time', async () => {
    const open = () => gateway.metric('tollgate_open_circuit_breakers')
    gateway.upstream.reply(exchange =>
      exchange.request.text().includes('"first"')
        ? json({}, { status: 500 })(exchange)
        : chatAnswer()(exchange),
    )
    for (let failures = 0; failures < FAILURES_BEFORE_OPEN; failures += 1) await ask(ada, 'gpt-two')
    stepWallClock(stepMs)

    gateway.clock.advance(OPEN_MS_FIRST - 1)
    const early = await open()
    gateway.clock.advance(1)

    expect(early).toBe(1)
    expect(await open()).toBe(0)
  })
})
