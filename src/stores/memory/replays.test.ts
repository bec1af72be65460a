import { describe, expect, test } from 'bun:test'
import { aFingerprint, anAnswer, replaysConform } from '../../../test/conformance/replays.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { SLAB_BYTES, replayBudget } from './answer-log.ts'
import { memoryReplays } from './replays.ts'

const MEGABYTE = 1 << 20
const HOUR_MS = 3_600_000

function open({ ttlMs = 60_000, bytesMax = MEGABYTE } = {}) {
  const clock = fakeClock()
  const budget = replayBudget(bytesMax)
  return { replays: memoryReplays({ budget, clock }, { ttlMs }), budget, clock }
}

const ofBytes = (length: number) => anAnswer(new Uint8Array(length))

/** The part of the budget that an answer with a body of this length takes. */
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
  test('the budget pays for the bodies and a small overhead for each answer', async () => {
    const { replays, budget } = open()

    await replays.keep(aFingerprint('a'), ofBytes(800))
    await replays.keep(aFingerprint('b'), ofBytes(0))

    expect(budget.taken).toBe(2 * weightOf(0) + 800)
    expect(weightOf(0)).toBeWithin(32, 160)
  })

  test('when the budget is used up, new answers are not kept and the old ones stay', async () => {
    const { replays } = open({ bytesMax: roomFor(2) })

    for (const name of ['a', 'b', 'c']) await replays.keep(aFingerprint(name), ofBytes(100))

    expect(await replays.find(aFingerprint('a'))).toBeDefined()
    expect(await replays.find(aFingerprint('b'))).toBeDefined()
    expect(await replays.find(aFingerprint('c'))).toBeUndefined()
  })

  test('the budget gets the bytes of expired answers back at the next call of any method', async () => {
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

  test('the budget gets the bytes of a replaced answer back when its time is over', async () => {
    const { replays, budget, clock } = open()
    await replays.keep(aFingerprint('a'), ofBytes(1000))
    clock.advance(30_000)
    await replays.keep(aFingerprint('a'), ofBytes(100))
    clock.advance(30_000)

    expect(await replays.find(aFingerprint('a'))).toEqual(ofBytes(100))
    expect(budget.taken).toBe(roomFor(1))
  })

  test('the budget of 0 bytes keeps nothing', async () => {
    const { replays, budget } = open({ bytesMax: 0 })

    await replays.keep(aFingerprint('a'), ofBytes(0))

    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
    expect(budget.taken).toBe(0)
  })

  test('the budget is exact for a view of a large buffer: only the bytes of the view are kept', async () => {
    const { replays } = open()
    const large = new Uint8Array(MEGABYTE)

    await replays.keep(aFingerprint('a'), anAnswer(large.subarray(0, 100)))

    const { body } = (await replays.find(aFingerprint('a'))) as { body: Uint8Array }
    expect(body.buffer.byteLength).toBe(100)
  })
})

describe('many answers', () => {
  /**
   * Lengths that leave different remainders at the end of a slab: none, less than the head of a record, and many bytes.
   */
  const bodies = Array.from({ length: 400 }, (_, index) =>
    new Uint8Array((index * 7919) % 200_000).fill(index % 251),
  )

  test('many answers are all found with their own bytes, also beyond one slab', async () => {
    const { replays } = open({ bytesMax: 100 * MEGABYTE })

    for (const [index, body] of bodies.entries())
      await replays.keep(aFingerprint(`answer ${index}`), anAnswer(body))

    for (const [index, body] of bodies.entries())
      expect((await replays.find(aFingerprint(`answer ${index}`)))?.body).toEqual(body)
  })

  test('many answers that expire over a long time give all their bytes back', async () => {
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

  test('many answers can fill slabs to the last byte', async () => {
    const { replays, budget } = open({ bytesMax: 4 * MEGABYTE })
    const half = SLAB_BYTES / 2 - weightOf(0)

    for (const name of ['a', 'b', 'c', 'd']) await replays.keep(aFingerprint(name), ofBytes(half))

    expect(budget.taken).toBe(2 * SLAB_BYTES)
    for (const name of ['a', 'b', 'c', 'd'])
      expect((await replays.find(aFingerprint(name)))?.body.length).toBe(half)
  })

  test('many answers whose digests begin with the same characters are found separately', async () => {
    const { replays } = open()
    const alike = (index: number) => aFingerprint('a', { digest: `${index}=`.padStart(44, 'x') })
    const indexes = Array.from({ length: 50 }, (_, index) => index)

    for (const index of indexes) await replays.keep(alike(index), anAnswer(`${index}`))

    for (const index of indexes) expect(await replays.find(alike(index))).toEqual(anAnswer(`${index}`))
  })
})

test('an answer larger than a slab is not kept', async () => {
  const { replays, budget } = open({ bytesMax: 4 * MEGABYTE })

  await replays.keep(aFingerprint('a'), ofBytes(SLAB_BYTES))

  expect(await replays.find(aFingerprint('a'))).toBeUndefined()
  expect(budget.taken).toBe(0)
})

test.each([-HOUR_MS, HOUR_MS])(
  'an answer lives equally long if the wall clock moves by %d ms',
  async moveMs => {
    const { replays, clock } = open({ ttlMs: 60_000 })
    await replays.keep(aFingerprint('a'), anAnswer())

    clock.setWallClock(clock.now() + moveMs)

    clock.advance(59_999)
    expect(await replays.find(aFingerprint('a'))).toBeDefined()
    clock.advance(1)
    expect(await replays.find(aFingerprint('a'))).toBeUndefined()
  },
)
