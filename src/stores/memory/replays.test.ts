import { describe, expect, test } from 'bun:test'
import { aFingerprint, anAnswer, replaysConform } from '../../../test/conformance/replays.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { replayBudget } from '../../gateway/replays/replay-budget.ts'
import { SLAB_BYTES } from './answer-log.ts'
import { memoryReplays } from './replays.ts'

const MEGABYTE = 1 << 20
const HOUR_MS = 3_600_000

function open({ ttlMs = 60_000, bytesMax = MEGABYTE } = {}) {
  const clock = fakeClock()
  const budget = replayBudget(bytesMax)
  return { replays: memoryReplays({ budget, clock }, { ttlMs }), budget, clock }
}

const ofBytes = (length: number) => anAnswer(new Uint8Array(length))

/** What an answer of so many bytes takes of the budget. */
function weightOf(length: number): number {
  const { replays, budget } = open()
  void replays.keep(aFingerprint('a'), ofBytes(length))
  return budget.taken
}

const roomFor = (answers: number) => answers * weightOf(100)

replaysConform(async ({ ttlMs }) => {
  const { replays, clock } = open({ ttlMs })
  return { replays, advance: ms => clock.advance(ms) }
})

describe('the budget', () => {
  test('is taken for what is kept, with what an answer weighs beside its body', async () => {
    const { replays, budget } = open()

    await replays.keep(aFingerprint('a'), ofBytes(800))
    await replays.keep(aFingerprint('b'), ofBytes(0))

    expect(budget.taken).toBe(2 * weightOf(0) + 800)
    expect(weightOf(0)).toBeWithin(32, 128)
  })

  test('has room for so much; what comes after is not kept, and what is there stays', async () => {
    const { replays } = open({ bytesMax: roomFor(2) })

    for (const name of ['a', 'b', 'c']) await replays.keep(aFingerprint(name), ofBytes(100))

    expect(await replays.find(aFingerprint('a'))).toBeDefined()
    expect(await replays.find(aFingerprint('b'))).toBeDefined()
    expect(await replays.find(aFingerprint('c'))).toBeUndefined()
  })

  test('is free again when time is over, at the next use of any kind', async () => {
    const { replays, budget, clock } = open({ bytesMax: roomFor(2) })
    await replays.keep(aFingerprint('a'), ofBytes(100))
    clock.advance(30_000)
    await replays.keep(aFingerprint('b'), ofBytes(100))
    clock.advance(30_000)

    await replays.keep(aFingerprint('c'), ofBytes(100))
    expect(await replays.find(aFingerprint('c'))).toBeDefined()
    expect(budget.taken).toBe(roomFor(2))

    clock.advance(60_000)
    await replays.find(aFingerprint('something else'))
    expect(budget.taken).toBe(0)
  })

  test('is free again of an answer whose place is taken when its time is over', async () => {
    const { replays, budget, clock } = open()
    await replays.keep(aFingerprint('a'), ofBytes(1000))
    clock.advance(30_000)
    await replays.keep(aFingerprint('a'), ofBytes(100))
    clock.advance(30_000)

    expect(await replays.find(aFingerprint('a'))).toMatchObject(ofBytes(100))
    expect(budget.taken).toBe(roomFor(1))
  })

  test('of nothing keeps nothing', async () => {
    const { replays, budget } = open({ bytesMax: 0 })

    await replays.keep(aFingerprint('a'), ofBytes(0))

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
    expect(budget.taken).toBe(0)
  })

  test('is not evaded by a view of a large buffer', async () => {
    const { replays } = open()
    const large = new Uint8Array(MEGABYTE)

    await replays.keep(aFingerprint('a'), anAnswer(large.subarray(0, 100)))

    const { body } = (await replays.find(aFingerprint('a'))) as { body: Uint8Array }
    expect(body.buffer.byteLength).toBe(100)
  })
})

describe('many answers', () => {
  /** Sizes that leave every kind of rest at the end of a slab: none, less than a record's head, and a lot. */
  const bodies = Array.from({ length: 400 }, (_, index) =>
    new Uint8Array((index * 7919) % 200_000).fill(index % 251),
  )

  test('are all found with their own bytes, also where the memory of one is full', async () => {
    const { replays } = open({ bytesMax: 100 * MEGABYTE })

    for (const [index, body] of bodies.entries())
      await replays.keep(aFingerprint(`answer ${index}`), anAnswer(body))

    for (const [index, body] of bodies.entries())
      expect((await replays.find(aFingerprint(`answer ${index}`)))?.body).toEqual(body)
  })

  test('that come and go for a long time give back all that they took', async () => {
    const { replays, budget, clock } = open({ ttlMs: 1000, bytesMax: 4 * MEGABYTE })

    for (const [index, body] of [...bodies, ...bodies].entries()) {
      clock.advance(100)
      await replays.keep(aFingerprint(`answer ${index}`), anAnswer(body))
      expect((await replays.find(aFingerprint(`answer ${index}`)))?.body).toEqual(body)
      expect(await replays.find(aFingerprint(`answer ${index - 10}`))).toBeUndefined()
    }
    clock.advance(1000)
    await replays.find(aFingerprint('something else'))

    expect(budget.taken).toBe(0)
  })

  test('fill slabs to the last byte', async () => {
    const { replays, budget } = open({ bytesMax: 4 * MEGABYTE })
    const half = SLAB_BYTES / 2 - weightOf(0)

    for (const name of ['a', 'b', 'c', 'd']) await replays.keep(aFingerprint(name), ofBytes(half))

    expect(budget.taken).toBe(2 * SLAB_BYTES)
    for (const name of ['a', 'b', 'c', 'd'])
      expect((await replays.find(aFingerprint(name)))?.body.length).toBe(half)
  })

  test('with digests that begin alike are told apart', async () => {
    const { replays } = open()
    const alike = (index: number) =>
      aFingerprint('a', { digest: Int32Array.from({ length: 8 }, (_, place) => (place < 7 ? 1 : index)) })
    const indexes = Array.from({ length: 50 }, (_, index) => index)

    for (const index of indexes) await replays.keep(alike(index), anAnswer(`${index}`))

    for (const index of indexes) expect(await replays.find(alike(index))).toMatchObject(anAnswer(`${index}`))
  })

  test('of more than a slab are not kept', async () => {
    const { replays, budget } = open({ bytesMax: 4 * MEGABYTE })

    await replays.keep(aFingerprint('a'), ofBytes(SLAB_BYTES))

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
    expect(budget.taken).toBe(0)
  })

  test.each([
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ])('keep their TTL when the wall clock is set %s', async (_direction, stepMs) => {
    const { replays, clock } = open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer('early'))
    clock.setWallClock(clock.now() + stepMs)

    clock.advance(59_999)
    const early = await replays.find(aFingerprint('a'))
    clock.advance(1)
    const late = await replays.find(aFingerprint('a'))

    expect(early).toMatchObject(anAnswer('early'))
    expect(late).toBeUndefined()
  })
})
