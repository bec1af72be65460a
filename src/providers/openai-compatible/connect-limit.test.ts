import { afterEach, beforeEach, expect, test } from 'bun:test'
import { providerAt } from '../../../test/conformance/openai-compatible/open-http.ts'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import type { TextProvider } from '../../gateway/ports/providers/text-provider.ts'
import { httpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { openAiCompatible } from './openai-compatible.ts'

const UNREACHABLE = { outcome: 'unreachable', reason: 'CONNECT_TIMEOUT' } as const
const CALL = { route: 'chat', model: 'm', body: '{}' } as const

/** Accepts connections and never answers a TLS handshake. */
let silent: Bun.TCPSocketListener
let opened: PromiseWithResolvers<void>
let clock: FakeClock
let openai: TextProvider

beforeEach(() => {
  opened = Promise.withResolvers()
  silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => opened.resolve(), data() {} },
  })
  clock = fakeClock()
  const timers = new Timers(clock)
  openai = openAiCompatible({ timers, http: httpClient(timers), secretOf: () => undefined })
})

afterEach(() => {
  silent.stop(true)
  expect(clock.waiting).toBe(0)
})

const provider = (connectTimeoutMs = 5000) =>
  providerAt(`https://localhost:${silent.port}`, { connectTimeoutMs, secret: { from: 'none' } })

test('a call that cannot connect within the limit of the provider is unreachable', async () => {
  const outcome = openai.complete({
    ...CALL,
    provider: provider(2000),
    readTimeoutMs: 60_000,
    lateMs: 60_000,
  })
  await opened.promise

  clock.advance(2000)

  expect(await outcome).toEqual(UNREACHABLE)
})

test('a stream that cannot connect within the limit of the provider is unreachable', async () => {
  const limits = { readTimeoutMs: 60_000, idleTimeoutMs: 60_000 }
  const outcome = openai.stream({ ...CALL, provider: provider(2000), ...limits })
  await opened.promise

  clock.advance(2000)

  expect(await outcome).toEqual(UNREACHABLE)
})

test.each([1000, 5000])(
  'a call whose own limit of %d ms is no longer than the connect limit is unreachable too, not timed out',
  async readTimeoutMs => {
    const outcome = openai.complete({ ...CALL, provider: provider(), readTimeoutMs, lateMs: 60_000 })
    await opened.promise

    clock.advance(readTimeoutMs)

    expect(await outcome).toEqual(UNREACHABLE)
  },
)

test('a caller that aborts while connecting has aborted', async () => {
  const controller = new AbortController()
  const call = { ...CALL, provider: provider(), readTimeoutMs: 60_000 }
  const outcome = openai.complete(call, controller.signal)
  await opened.promise

  controller.abort()

  expect(await outcome).toEqual({ outcome: 'aborted' })
})
