import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { chunk, EVENT_STREAM, head, sse } from '../../support/upstream-replies.ts'
import type { Exchange } from '../../support/upstream.ts'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import {
  askForStream,
  restOf,
  settledStream,
  settlementOf,
  type Settlement,
} from '../streams/settled-stream.ts'
import {
  BROKE_OFF,
  COST_OF_HEL,
  costed,
  delta,
  DONE,
  FINISH,
  HEL,
  LO,
  ROLE,
  usage,
} from '../../support/stream-frames.ts'

const REPORTED: Settlement = { cost_usd: '0.00007', source: 'reported', is_clamped: false }
const HELLO = ROLE + HEL + LO + FINISH + usage() + DONE
const COPY_BYTES_MAX = 256 * 1024
/** Pieces of 64 KB: more than the buffers of two sockets. */
const PIECES = 250

let gateway: ScriptedGateway
let ada: TestAccount
let askedBefore = 0

beforeAll(async () => {
  gateway = await startScriptedGateway({ environment: { TOLLGATE_REPLAY_TTL_S: '60' } })
  // The first estimate waits until the vocabulary is loaded.
  await settledStream(gateway, sse([HEL + DONE]))
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  gateway.upstream.reply(sse([HELLO]))
  askedBefore = gateway.upstream.requests.length
  ada = await gateway.account()
})

/** The number of upstream calls in this test. */
const asked = () => gateway.upstream.requests.length - askedBefore
const isReplay = ({ headers }: Response) => headers.get('x-service-replay') === 'true'
const ask = (asking?: Parameters<typeof askForStream>[2]) => askForStream(gateway, ada, asking)

/** Resolves when the gateway has read everything that was sent before. */
const arrived = () => gateway.read(ada.key, '/v1/balance')

/** A stream whose upstream is controlled by the test, opened by its first client. */
async function opened(sent: string, signal?: AbortSignal) {
  const upstream = gateway.upstream.hold()
  const response = ask(signal === undefined ? {} : { signal })
  const exchange = await upstream
  await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
  await exchange.write(chunk(sent))
  return { exchange, first: (await response).body!.getReader() }
}

const end = (exchange: Exchange) => exchange.write('0\r\n\r\n')

/** The next bytes up to and including `text`. */
async function readUpTo(text: string, reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let read = ''
  while (!read.endsWith(text)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`The stream ended before ${text}: ${read}`)
    read += decoder.decode(value, { stream: true })
  }
  return read
}

describe.each([false, true])('an identical stream, with include_usage %p', includeUsage => {
  const shown = includeUsage ? costed(HELLO, '0.00007') : HELLO

  test('an identical stream within the TTL gets the same frames again, without a charge', async () => {
    const first = await ask({ includeUsage })
    const firstBody = await first.text()
    const second = await ask({ includeUsage })

    expect(firstBody).toBe(shown)
    expect(isReplay(first)).toBe(false)
    expect(await second.text()).toBe(shown)
    expect(isReplay(second)).toBe(true)
    for (const name of ['content-type', 'cache-control', 'x-accel-buffering']) {
      expect(second.headers.get(name)).toBe(first.headers.get(name))
    }
    expect(asked()).toBe(1)
    expect(await settlementOf(gateway, ada)).toEqual(REPORTED)
  })

  test('of a hundred concurrent requests, one reaches the model and is charged, and all get the same frames', async () => {
    const upstream = gateway.upstream.hold()
    const replies = Array.from({ length: 100 }, async () => {
      const response = await ask({ includeUsage })
      return { body: await response.text(), isReplay: isReplay(response) }
    })
    const exchange = await upstream
    await exchange.write(head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' }))
    for (const part of [ROLE, HEL, LO, FINISH, usage(), DONE]) {
      await exchange.write(chunk(part))
      await arrived()
    }
    await end(exchange)
    const got = await Promise.all(replies)

    expect(asked()).toBe(1)
    expect(new Set(got.map(({ body }) => body))).toEqual(new Set([shown]))
    expect(got.filter(reply => reply.isReplay)).toHaveLength(99)
    expect(await settlementOf(gateway, ada)).toEqual(REPORTED)
  })
})

describe('a running stream', () => {
  test('a running stream is followed live: the frames so far, and then the rest as it arrives', async () => {
    const { exchange, first } = await opened(ROLE)
    await readUpTo(ROLE, first)
    await exchange.write(chunk(HEL))
    await readUpTo(HEL, first)

    const response = await ask()
    const second = response.body!.getReader()
    const before = await readUpTo(HEL, second)
    await exchange.write(chunk(LO))
    const live = await readUpTo(LO, second)
    await exchange.write(chunk(FINISH + usage() + DONE))
    await end(exchange)

    expect(isReplay(response)).toBe(true)
    expect(before).toBe(ROLE + HEL)
    expect(live).toBe(LO)
    expect(await restOf(second)).toBe(FINISH + usage() + DONE)
    expect(await restOf(first)).toBe(LO + FINISH + usage() + DONE)
    expect(asked()).toBe(1)
    expect(await settlementOf(gateway, ada)).toEqual(REPORTED)
  })

  test('a running stream breaks for all its readers, and the next request calls the model again', async () => {
    const { exchange, first } = await opened(HEL)
    const second = (await ask()).body!.getReader()
    await readUpTo(HEL, second)

    exchange.reset()

    expect(await restOf(first)).toEndWith(BROKE_OFF)
    expect(await restOf(second)).toBe(BROKE_OFF)
    const third = await ask()
    expect(isReplay(third)).toBe(false)
    expect(await third.text()).toBe(HELLO)
    expect(asked()).toBe(2)
  })

  test('a running stream that failed before its first byte is not shared', async () => {
    const upstream = gateway.upstream.hold()
    const replies = [ask(), ask(), ask()]
    const exchange = await upstream
    await arrived()
    exchange.reset()

    const got = await Promise.all(replies)
    const bodies = await Promise.all(got.map(response => response.text()))

    expect(got.filter(({ status }) => status === 502)).toHaveLength(1)
    expect(bodies.filter(body => body === HELLO)).toHaveLength(2)
    expect(asked()).toBe(2)
  })
})

describe('a client that disconnects', () => {
  test('a client that disconnects first leaves the stream to its followers, and it is charged once and kept', async () => {
    const leaver = new AbortController()
    const { exchange, first } = await opened(ROLE, leaver.signal)
    await readUpTo(ROLE, first)
    const second = (await ask()).body!.getReader()
    await readUpTo(ROLE, second)

    leaver.abort()
    await arrived()
    await exchange.write(chunk(HEL))
    await readUpTo(HEL, second)
    await exchange.write(chunk(LO + FINISH + usage() + DONE))
    await end(exchange)

    expect(await restOf(second)).toBe(LO + FINISH + usage() + DONE)
    expect(await settlementOf(gateway, ada)).toEqual(REPORTED)
    expect(await (await ask()).text()).toBe(HELLO)
    expect(asked()).toBe(1)
  })

  test('a client that disconnects before the first byte leaves the call to its followers', async () => {
    const leaver = new AbortController()
    const upstream = gateway.upstream.hold()
    const abandoned = ask({ signal: leaver.signal }).catch((error: unknown) => error)
    const exchange = await upstream
    const second = ask()
    await arrived()

    leaver.abort()
    await abandoned
    await arrived()
    await sse([HELLO])(exchange)

    expect(await (await second).text()).toBe(HELLO)
    expect(asked()).toBe(1)
    expect(await settlementOf(gateway, ada)).toEqual(REPORTED)
  })

  test('a client that disconnects last, before the first byte, ends the upstream call without a charge', async () => {
    const leaver = new AbortController()
    const upstream = gateway.upstream.hold()
    const asking = [ask({ signal: leaver.signal }), ask({ signal: leaver.signal })]
    const exchange = await upstream
    await arrived()

    leaver.abort()
    await Promise.allSettled(asking)
    await exchange.closed

    expect(await settlementOf(gateway, ada)).toBeNull()
    expect(asked()).toBe(1)
  })

  test('a client that disconnects does not affect other readers', async () => {
    const { exchange, first } = await opened(ROLE)
    await readUpTo(ROLE, first)
    const leaver = new AbortController()
    const second = (await ask({ signal: leaver.signal })).body!.getReader()
    await readUpTo(ROLE, second)

    leaver.abort()
    await arrived()
    await exchange.write(chunk(HEL + LO + FINISH + usage() + DONE))
    await end(exchange)

    expect(await restOf(first)).toBe(HEL + LO + FINISH + usage() + DONE)
    expect(await settlementOf(gateway, ada)).toEqual(REPORTED)
  })

  test('a client that disconnects last ends the upstream call and pays for the output so far, and nothing is kept', async () => {
    const leavers = [new AbortController(), new AbortController()] as const
    const { exchange, first } = await opened(HEL, leavers[0].signal)
    await readUpTo(HEL, first)
    const second = (await ask({ signal: leavers[1].signal })).body!.getReader()
    await readUpTo(HEL, second)

    leavers[0].abort()
    leavers[1].abort()
    await exchange.closed

    expect(await settlementOf(gateway, ada)).toEqual({
      cost_usd: COST_OF_HEL,
      source: 'estimated',
      is_clamped: false,
    })
    expect(isReplay(await ask())).toBe(false)
    expect(asked()).toBe(2)
  })
})

test('a stream whose client disconnected just before the last frame is not kept', async () => {
  const leaver = new AbortController()
  const { exchange, first } = await opened(HEL + LO + FINISH, leaver.signal)
  await readUpTo(LO, first)

  leaver.abort()
  await exchange.closed
  await settlementOf(gateway, ada)

  const repeat = await ask()
  expect(isReplay(repeat)).toBe(false)
  expect(await repeat.text()).toBe(HELLO)
})

describe('a stream of more than 256 KB', () => {
  const LARGE = delta({ content: 'x'.repeat(COPY_BYTES_MAX) })

  test('a stream of more than 256 KB is not kept', async () => {
    gateway.upstream.reply(sse([LARGE, FINISH, usage(), DONE]))

    await (await ask()).text()
    const again = await ask()

    expect(isReplay(again)).toBe(false)
    expect((await again.text()).length).toBeGreaterThan(COPY_BYTES_MAX)
    expect(asked()).toBe(2)
  })

  test('a stream of more than 256 KB continues for its followers, and a later request calls the model', async () => {
    const { exchange, first } = await opened(ROLE)
    await readUpTo(ROLE, first)
    const second = restOf((await ask()).body!.getReader())
    await arrived()

    await exchange.write(chunk(LARGE))
    expect(await readUpTo('\n\n', first)).toBe(LARGE)
    const late = await ask()
    await exchange.write(chunk(FINISH + usage() + DONE))
    await end(exchange)

    expect(isReplay(late)).toBe(false)
    expect(await late.text()).toBe(HELLO)
    expect(await restOf(first)).toBe(FINISH + usage() + DONE)
    expect(await second).toBe(ROLE + LARGE + FINISH + usage() + DONE)
    expect(asked()).toBe(2)
  })

  test('a stream of more than 256 KB does not wait for a follower that reads nothing, which gets an error frame', async () => {
    const piece = delta({ content: 'x'.repeat(64 * 1024) })
    const bytes = chunk(piece)
    const { exchange, first } = await opened(ROLE)
    await readUpTo(ROLE, first)
    const idle = await ask()

    const rest = restOf(first)
    for (let written = 0; written < PIECES; written += 1) await exchange.write(bytes)
    await exchange.write(chunk(FINISH + usage() + DONE))
    await end(exchange)

    expect(await rest).toHaveLength(PIECES * piece.length + (FINISH + usage() + DONE).length)
    const got = await idle.text()
    expect(got).toContain('"code":"unavailable"')
    expect(got).not.toContain(DONE)
    expect(got).toStartWith(ROLE)
    expect(await gateway.metric('tollgate_replay_bytes')).toBeLessThan(COPY_BYTES_MAX)
  })
})

test('without free memory a stream is neither copied nor followed', async () => {
  const full = await startScriptedGateway({
    environment: { TOLLGATE_REPLAY_TTL_S: '60', TOLLGATE_REPLAY_MB: '0' },
  })
  full.upstream.reply(sse([HELLO]))
  const account = await full.account()

  const first = await askForStream(full, account)
  expect(await first.text()).toBe(HELLO)
  const second = await askForStream(full, account)

  expect(isReplay(second)).toBe(false)
  expect(await second.text()).toBe(HELLO)
  await full.stop()
})
