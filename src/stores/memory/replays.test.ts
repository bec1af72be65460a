import { describe, expect, test } from 'bun:test'
import { anAnswer, replaysConform } from '../../../test/conformance/replays.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { replayBudget } from '../../gateway/replays/replay-budget.ts'
import { ENTRY_BYTES, memoryReplays } from './replays.ts'

const MEGABYTE = 1 << 20

function open({ ttlMs = 60_000, bytesMax = MEGABYTE } = {}) {
  const clock = fakeClock()
  const budget = replayBudget(bytesMax)
  return { replays: memoryReplays({ budget, clock }, { ttlMs }), budget, clock }
}

const ofBytes = (length: number) => anAnswer(new Uint8Array(length))
/** Room for so many answers of 100 bytes. */
const roomFor = (answers: number) => answers * (100 + ENTRY_BYTES)

replaysConform(async ({ ttlMs }) => {
  const { replays, clock } = open({ ttlMs })
  return { replays, advance: ms => clock.advance(ms) }
})

describe('the budget', () => {
  test('is taken for what is kept, with what an entry weighs beside its body', async () => {
    const { replays, budget } = open()

    await replays.keep('a', ofBytes(100))
    await replays.keep('b', ofBytes(0))

    expect(budget.taken).toBe(100 + 2 * ENTRY_BYTES)
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

  test('is given back by an answer whose place is taken', async () => {
    const { replays, budget } = open()

    await replays.keep('a', ofBytes(1000))
    await replays.keep('a', ofBytes(100))

    expect(budget.taken).toBe(roomFor(1))
  })

  test('of nothing keeps nothing', async () => {
    const { replays } = open({ bytesMax: 0 })

    await replays.keep('a', ofBytes(0))

    expect(await replays.find('a')).toBeUndefined()
  })

  test('is not evaded by a view of a large buffer', async () => {
    const { replays } = open()
    const large = new Uint8Array(MEGABYTE)

    await replays.keep('a', anAnswer(large.subarray(0, 100)))

    const kept = await replays.find('a')
    expect(kept?.body.buffer.byteLength).toBe(100)
  })
})
