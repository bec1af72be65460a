import { expect, test } from 'bun:test'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import type { Bytes } from '../../../domain/bytes.ts'
import type { UpstreamStream } from '../../ports/providers/text-provider.ts'
import { SILENCE, WatchedUpstream } from './watched-upstream.ts'

const HI = new TextEncoder().encode('hi')
const NOTHING_YET = 'nothing yet'

function setUp() {
  const clock = fakeClock()
  let reads = 0
  let wait = Promise.withResolvers<Bytes | undefined>()
  const upstream: UpstreamStream = {
    end: undefined,
    read() {
      reads += 1
      wait = Promise.withResolvers()
      return wait.promise
    },
    cancel: () => wait.resolve(undefined),
  }
  const watched = new WatchedUpstream(upstream, clock)
  const readFor = (ms: number) => watched.readUntil(clock.monotonicMs() + ms)
  return { clock, watched, readFor, send: (piece?: typeof HI) => wait.resolve(piece), reads: () => reads }
}

/** The result of a read so far. */
function soFar(read: Promise<unknown>): Promise<unknown> {
  return Promise.race([read, Promise.resolve().then(() => NOTHING_YET)])
}

test('a read gives silence when it is time, and a later one gives the piece that it waited for', async () => {
  const { clock, readFor, send, reads } = setUp()

  const first = readFor(10_000)
  clock.advance(9_999)
  const early = await soFar(first)
  clock.advance(1)
  const second = readFor(10_000)
  send(HI)

  expect(early).toBe(NOTHING_YET)
  expect(await first).toBe(SILENCE)
  expect(await second).toBe(HI)
  expect(reads()).toBe(1)
})

test('a piece in time moves the next heartbeat', async () => {
  const { clock, readFor, send } = setUp()
  const first = readFor(10_000)
  clock.advance(6_000)
  send(HI)
  await first

  const second = readFor(10_000)
  clock.advance(9_999)
  const early = await soFar(second)
  clock.advance(1)

  expect(early).toBe(NOTHING_YET)
  expect(await second).toBe(SILENCE)
})

test('a plain read after silence gives the piece, and needs no timer', async () => {
  const { clock, watched, readFor, send } = setUp()
  const first = readFor(10_000)
  clock.advance(10_000)
  await first

  const rest = watched.read()
  send(HI)

  expect(await rest).toBe(HI)
  expect(clock.waiting).toBe(0)
})

test.each(['the end of the body', 'a cancel'])('%s leaves no timer', async how => {
  const { clock, watched, readFor, send } = setUp()
  const read = readFor(10_000)

  if (how === 'a cancel') watched.cancel()
  else send()
  await read

  expect(clock.waiting).toBe(0)
})

test('an interrupted read gives silence, and the next one gives the piece that it waited for', async () => {
  const { watched, send, reads } = setUp()
  const waiting = watched.readUntil(Infinity)

  watched.interrupt()
  const next = watched.read()
  send(HI)

  expect(await waiting).toBe(SILENCE)
  expect(await next).toBe(HI)
  expect(reads()).toBe(1)
})

test('a read without a time for a heartbeat waits for its piece', async () => {
  const { watched, clock, send } = setUp()
  const waiting = watched.readUntil(Infinity)

  clock.advance(Number.MAX_SAFE_INTEGER)
  const early = await soFar(waiting)
  send(HI)

  expect(early).toBe(NOTHING_YET)
  expect(await waiting).toBe(HI)
})
