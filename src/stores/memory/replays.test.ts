import { describe, expect, test } from 'bun:test'
import { anAnswer, replaysConform } from '../../../test/conformance/replays.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { replayBudget } from '../../gateway/replays/replay-budget.ts'
import { SLAB_BYTES } from './answer-log.ts'
import { memoryReplays } from './replays.ts'

const MEGABYTE = 1 << 20

function open({ ttlMs = 60_000, bytesMax = MEGABYTE } = {}) {
  const clock = fakeClock()
  const budget = replayBudget(bytesMax)
  return { replays: memoryReplays({ budget, clock }, { ttlMs }), budget, clock }
}

const ofBytes = (length: number) => anAnswer(new Uint8Array(length))

/** What an answer of so many bytes takes of the budget. */
function weightOf(length: number): number {
  const { replays, budget } = open()
  void replays.keep('a', ofBytes(length))
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

    await replays.keep('a', ofBytes(100))
    await replays.keep('b', ofBytes(0))

    expect(budget.taken).toBe(2 * weightOf(0) + 100)
    expect(weightOf(0)).toBeWithin(32, 128)
  })

  test('has room for so much; what comes after is not kept, and what is there stays', async () => {
    const { replays } = open({ bytesMax: roomFor(2) })

    for (const name of ['a', 'b', 'c']) await replays.keep(name, ofBytes(100))

    expect(await replays.find('a')).toBeDefined()
    expect(await replays.find('b')).toBeDefined()
    expect(await replays.find('c')).toBeUndefined()
  })

  test('is free again when time is over, at the next use of any kind', async () => {
    const { replays, budget, clock } = open({ bytesMax: roomFor(2) })
    await replays.keep('a', ofBytes(100))
    clock.advance(30_000)
    await replays.keep('b', ofBytes(100))
    clock.advance(30_000)

    await replays.keep('c', ofBytes(100))
    expect(await replays.find('c')).toBeDefined()
    expect(budget.taken).toBe(roomFor(2))

    clock.advance(60_000)
    await replays.find('something else')
    expect(budget.taken).toBe(0)
  })

  test('is free again of an answer whose place is taken when its time is over', async () => {
    const { replays, budget, clock } = open()
    await replays.keep('a', ofBytes(1000))
    clock.advance(30_000)
    await replays.keep('a', ofBytes(100))
    clock.advance(30_000)

    expect(await replays.find('a')).toMatchObject(ofBytes(100))
    expect(budget.taken).toBe(roomFor(1))
  })

  test('of nothing keeps nothing', async () => {
    const { replays, budget } = open({ bytesMax: 0 })

    await replays.keep('a', ofBytes(0))

    expect(await replays.find('a')).toBeUndefined()
    expect(budget.taken).toBe(0)
  })

  test('is not evaded by a view of a large buffer', async () => {
    const { replays } = open()
    const large = new Uint8Array(MEGABYTE)

    await replays.keep('a', anAnswer(large.subarray(0, 100)))

    const { body } = (await replays.find('a')) as { body: Uint8Array }
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

    for (const [index, body] of bodies.entries()) await replays.keep(`answer ${index}`, anAnswer(body))

    for (const [index, body] of bodies.entries())
      expect((await replays.find(`answer ${index}`))?.body).toEqual(body)
  })

  test('that come and go for a long time give back all that they took', async () => {
    const { replays, budget, clock } = open({ ttlMs: 1000, bytesMax: 4 * MEGABYTE })

    for (const [index, body] of [...bodies, ...bodies].entries()) {
      clock.advance(100)
      await replays.keep(`answer ${index}`, anAnswer(body))
      expect((await replays.find(`answer ${index}`))?.body).toEqual(body)
      expect(await replays.find(`answer ${index - 10}`)).toBeUndefined()
    }
    clock.advance(1000)
    await replays.find('something else')

    expect(budget.taken).toBe(0)
  })

  test('fill slabs to the last byte', async () => {
    const { replays, budget } = open({ bytesMax: 4 * MEGABYTE })
    const half = SLAB_BYTES / 2 - weightOf(0)

    for (const name of ['a', 'b', 'c', 'd']) await replays.keep(name, ofBytes(half))

    expect(budget.taken).toBe(2 * SLAB_BYTES)
    for (const name of ['a', 'b', 'c', 'd']) expect((await replays.find(name))?.body.length).toBe(half)
  })

  test('with fingerprints that begin alike are told apart', async () => {
    const { replays } = open()
    const names = Array.from({ length: 50 }, (_, index) => `the same beginning, ${index}`)

    for (const name of names) await replays.keep(name, anAnswer(name))

    for (const name of names) expect(await replays.find(name)).toMatchObject(anAnswer(name))
  })

  test('of more than a slab are not kept', async () => {
    const { replays, budget } = open({ bytesMax: 4 * MEGABYTE })

    await replays.keep('a', ofBytes(SLAB_BYTES))

    expect(await replays.find('a')).toBeUndefined()
    expect(budget.taken).toBe(0)
  })

  test('of a clock that was set back live no longer than their time', async () => {
    const { replays, clock } = open({ ttlMs: 60_000 })
    await replays.keep('a', anAnswer('early'))
    clock.advance(-30_000)
    await replays.keep('b', anAnswer('late'))

    clock.advance(60_000)

    expect(await replays.find('a')).toBeDefined()
    expect(await replays.find('b')).toBeUndefined()
  })
})
