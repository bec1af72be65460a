import { expect, test } from 'bun:test'
import { at } from '../../test/support/account-builders.ts'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { anId, NOW } from '../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../test/support/test-store.ts'
import { aCatalogOf, aDestination } from '../../test/support/upstream-rows.ts'
import {
  CircuitBreakers,
  FAILURES_BEFORE_OPEN,
  type HealthSignal,
} from '../gateway/upstreams/upstream-health.ts'
import { ProviderWatcher } from './tell-events.ts'

const UNHEALTHY: HealthSignal = { signal: 'unhealthy', retryAfterMs: undefined }
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const main = aDestination('main')
const spare = aDestination('spare')

/** A watcher that looks every ten seconds, over real circuit breakers and a store with a webhook. */
async function setUp() {
  const clock = fakeClock(NOW)
  const store = aSqliteStore(undefined, clock)
  const breakers = new CircuitBreakers({ catalog: { current: () => aCatalogOf([main, spare]) }, clock })
  const webhook = await store.webhooks.create({
    publicId: `whk_${anId().key}`,
    accountId: undefined,
    url: 'https://example.com/',
    events: ['provider.failing', 'provider.recovered'],
    note: '',
    secret: 'whsec_AAAA',
    by: at(NOW),
  })
  const aWatcher = () =>
    new ProviderWatcher({ alerts: store.alerts, failingUpstreams: () => breakers.failing(), clock })
  let watcher = aWatcher()
  const call = (signal: HealthSignal, destination = main) => breakers.begin(destination)(signal)
  return {
    call,
    fail: (destination = main) => {
      for (let failures = 0; failures < FAILURES_BEFORE_OPEN; failures += 1) call(UNHEALTHY, destination)
    },
    succeed: () => call({ signal: 'healthy' }),
    restart: () => {
      watcher = aWatcher()
    },
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10_000) {
        clock.advance(10_000)
        await watcher.look()
      }
    },
    told: async () => {
      const { messages } = await store.webhooks.messages(webhook, { limit: 100 })
      return messages.map(({ event }) => event.type).reverse()
    },
  }
}

test('a provider that fails for a minute is told once, and its recovery after five good minutes', async () => {
  const { fail, succeed, pass, told } = await setUp()
  const counts: number[] = []
  const count = async () => counts.push((await told()).length)
  fail()
  await pass(MINUTE - 10_000)
  await count()

  await pass(HOUR)
  await count()
  succeed()
  await pass(5 * MINUTE - 10_000)
  await count()
  await pass(20_000)

  expect(counts).toEqual([0, 1, 1])
  expect(await told()).toEqual(['provider.failing', 'provider.recovered'])
})

test('an upstream that opens and closes each minute for an hour sends nothing', async () => {
  const { fail, succeed, pass, told } = await setUp()

  for (let minute = 0; minute < 60; minute += 1) {
    fail()
    await pass(MINUTE / 2)
    succeed()
    await pass(MINUTE / 2)
  }

  expect(await told()).toEqual([])
})

test('a provider that was told to fail, and then comes and goes for hours, is told once', async () => {
  const { fail, succeed, pass, told } = await setUp()
  fail()
  await pass(2 * MINUTE)

  for (let turn = 0; turn < 60; turn += 1) {
    succeed()
    await pass(2 * MINUTE)
    fail()
    await pass(2 * MINUTE)
  }

  expect(await told()).toEqual(['provider.failing'])
})

test('a recovery is told after a restart too', async () => {
  const { fail, succeed, pass, restart, told } = await setUp()
  fail()
  await pass(2 * MINUTE)

  succeed()
  restart()
  await pass(5 * MINUTE + 10_000)

  expect(await told()).toEqual(['provider.failing', 'provider.recovered'])
})

test('each provider is told by itself', async () => {
  const { fail, pass, told } = await setUp()
  fail()
  fail(spare)

  await pass(2 * MINUTE)

  expect(await told()).toEqual(['provider.failing', 'provider.failing'])
})
