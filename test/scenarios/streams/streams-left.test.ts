import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chunk, EVENT_STREAM, head, sse } from '../../support/upstream-replies.ts'
import type { Exchange } from '../../support/upstream.ts'
import { startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'
import { askForStream, settledStream, settlementOf, type Settlement } from './settled-stream.ts'
import {
  COST_OF_HEL,
  delta,
  DONE,
  FINISH,
  HEL,
  LO,
  ROLE,
  TEN_IN_FIVE_OUT,
  usage,
} from '../../support/stream-frames.ts'
import { until } from '../../support/until.ts'

let gateway: ScriptedGateway

beforeAll(async () => {
  gateway = await startScriptedGateway()
  // The first estimate waits until the vocabulary is loaded.
  await settledStream(gateway, sse([HEL + DONE]))
})
afterAll(() => gateway.stop())

const streamHead = head(200, { ...EVENT_STREAM, 'transfer-encoding': 'chunked' })
const estimated: Settlement = { cost_usd: COST_OF_HEL, source: 'estimated', is_clamped: false }
const reported: Settlement = { cost_usd: '0.00007', source: 'reported', is_clamped: false }

describe.each([false, true])('a client that disconnects, with include_usage %p', includeUsage => {
  test.each([
    ['before the upstream’s headers', []],
    ['before the upstream’s first byte', [streamHead]],
    ['before a complete frame', [streamHead, chunk(HEL.slice(0, 50))]],
  ])('a client that disconnects %s is charged nothing, and the upstream call is ended', async (_, parts) => {
    const account = await gateway.account()
    const upstream = gateway.upstream.hold()
    const client = new AbortController()
    const asked = askForStream(gateway, account, { includeUsage, signal: client.signal })
    const exchange = await upstream
    for (const part of parts) await exchange.write(part)

    client.abort()

    expect(await asked.catch((error: unknown) => error)).toMatchObject({ name: 'AbortError' })
    await exchange.closed
    expect(await settlementOf(gateway, account)).toBeNull()
  })

  const midway: [title: string, parts: string[], charge: Settlement | null][] = [
    ['after only the role, nothing', [ROLE], null],
    ['in the middle, for the output so far', [HEL], estimated],
    [
      'in the middle, the usage of a chunk',
      [delta({ content: 'Hel' }, 0, { usage: TEN_IN_FIVE_OUT })],
      reported,
    ],
    ['after the last token, for the whole output', [HEL, LO + FINISH], estimated],
  ]

  test.each(midway)(
    'a client that disconnects from a stream pays %s, and the upstream call is ended',
    async (_, parts, charge) => {
      const { account, exchange, leave } = await readUpTo(parts, includeUsage)

      leave()

      await exchange.closed
      expect(await settlementOf(gateway, account)).toEqual(charge)
    },
  )

  test('a client that disconnects from a stream pays for the whole answer if the upstream had sent all of it', async () => {
    const { account, exchange, leave } = await readUpTo([HEL], includeUsage)

    await exchange.write(chunk(LO + FINISH + usage() + DONE))
    const charge = await settlementOf(gateway, account)
    leave()

    expect(charge).toEqual(reported)
    expect(await settlementOf(gateway, account)).toEqual(reported)
  })
})

test('a client that reads nothing slows down the upstream instead of filling the memory, and its memory is freed when it disconnects', async () => {
  const account = await gateway.account()
  const upstream = gateway.upstream.hold()
  const client = new AbortController()
  const asked = askForStream(gateway, account, { signal: client.signal })
  const exchange = await upstream
  await exchange.write(streamHead)
  void flood(exchange)
  await asked

  const written = await heldAt(exchange)
  client.abort()
  await exchange.closed

  // The buffers of both sockets, in the kernel and in the runtime.
  expect(written).toBeLessThan(FLOOD_BYTES / 4)
  expect(await settlementOf(gateway, account)).toMatchObject({ source: 'estimated' })
})

const FLOOD_BYTES = 128 * 1024 * 1024

async function flood(exchange: Exchange): Promise<void> {
  const block = chunk(delta({ content: 'x'.repeat(100_000) }))
  while (exchange.written < FLOOD_BYTES) {
    const before = exchange.written
    await exchange.write(block)
    if (exchange.written === before) return
  }
}

test('a disconnect is not counted as a broken stream', async () => {
  const series = (name: string) => gateway.metric(`${name}{route="chat",status="200",model="gpt-x"}`)

  expect(await series('tollgate_requests_total')).toBeGreaterThan(5)
  expect(await gateway.metric('tollgate_broken_streams_total{route="chat",model="gpt-x"}')).toBe(0)
})

/** The number of bytes that the upstream could send before everything stalled. */
async function heldAt(exchange: Exchange): Promise<number> {
  let still = 0
  let last = -1
  await until('nothing moves', () => {
    still = exchange.written === last ? still + 1 : 0
    last = exchange.written
    return still === 500
  })
  return last
}

/** A stream of which the client has read all these parts. */
async function readUpTo(parts: readonly string[], includeUsage: boolean) {
  const account = await gateway.account()
  const upstream = gateway.upstream.hold()
  const client = new AbortController()
  const asked = askForStream(gateway, account, { includeUsage, signal: client.signal })
  const exchange = await upstream
  await exchange.write(streamHead)
  const [first = '', ...rest] = parts
  await exchange.write(chunk(first))
  const reader = (await asked).body!.getReader()
  await reader.read()
  for (const part of rest) {
    await exchange.write(chunk(part))
    await reader.read()
  }
  return { account, exchange, leave: () => client.abort() }
}
