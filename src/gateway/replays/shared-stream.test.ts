import { describe, expect, test } from 'bun:test'
import { turn } from '../../../test/support/turn.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import { replayBudget } from './replay-budget.ts'
import { BEHIND_BYTES_MAX, COPY_BYTES_MAX, SharedStream } from './shared-stream.ts'

const LOST = new TextEncoder().encode('lost')
const PIECE_BYTES = 64 * 1024
const PIECES_OF_COPY = COPY_BYTES_MAX / PIECE_BYTES
const PIECES_BEHIND = BEHIND_BYTES_MAX / PIECE_BYTES

/** A source of pieces that the test hands in; each is one number, repeated. */
function aSource() {
  const waiting: ((piece: Uint8Array<ArrayBuffer> | undefined) => void)[] = []
  let reads = 0
  let isCancelled = false
  const source: ByteStream = {
    read() {
      reads += 1
      return isCancelled ? Promise.resolve(undefined) : new Promise(resolve => waiting.push(resolve))
    },
    cancel() {
      isCancelled = true
      for (const take of waiting.splice(0)) take(undefined)
    },
  }
  return {
    source,
    /** Answers the read that waits. */
    send: (number: number, length = PIECE_BYTES) => waiting.shift()!(new Uint8Array(length).fill(number)),
    end: () => waiting.shift()!(undefined),
    get reads() {
      return reads
    },
    get isCancelled() {
      return isCancelled
    },
  }
}

function share({ bytesMax = 100 * COPY_BYTES_MAX } = {}) {
  const script = aSource()
  const budget = replayBudget(bytesMax)
  let closed = 0
  const stream = new SharedStream(script.source, { budget, onClosed: () => (closed += 1) })
  return {
    stream,
    script,
    budget,
    open: () => stream.open(() => LOST)!,
    get closed() {
      return closed
    },
  }
}

/** The number of the next piece. */
const next = async (reader: ByteStream) => (await reader.read())?.[0]

/** The leader reads so many pieces, numbered from 1. */
async function lead(leader: ByteStream, script: ReturnType<typeof aSource>, count: number, from = 1) {
  for (let number = from; number < from + count; number += 1) {
    const piece = leader.read()
    script.send(number)
    await piece
  }
}

/** Whether a promise is settled once everything that was under way has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await turn()
  return settled
}

describe('readers', () => {
  test('who read at once ask the source once, and all get the piece', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]

    const pieces = [next(leader), next(follower)]
    script.send(7)

    expect(await Promise.all(pieces)).toEqual([7, 7])
    expect(script.reads).toBe(1)
  })

  test('who join later get the stream from its start', async () => {
    const { open, script } = share()
    const leader = open()
    await lead(leader, script, 2)

    const follower = open()

    expect([await next(follower), await next(follower)]).toEqual([1, 2])
    expect(script.reads).toBe(2)
  })

  test('may read ahead of a leader that stalls, which loses nothing', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(follower, script, 3)

    expect([await next(leader), await next(leader), await next(leader)]).toEqual([1, 2, 3])
  })

  test('get the end, and each is done when it has read it', async () => {
    const { open, script, stream } = share()
    const [leader, follower] = [open(), open()]
    await lead(leader, script, 1)
    const end = next(leader)
    script.end()

    expect(await end).toBeUndefined()
    expect(await leader.done).toEqual({ isWhole: true })
    expect(await isSettled(follower.done)).toBe(false)
    expect([await next(follower), await next(follower), await next(follower)]).toEqual([
      1,
      undefined,
      undefined,
    ])
    expect(await follower.done).toEqual({ isWhole: true })
    await stream.over
    expect(stream.copy()).toHaveLength(PIECE_BYTES)
  })
})

describe('a reader that leaves', () => {
  test('as the only one cancels the source', async () => {
    const { open, script, stream } = share()
    const leader = open()
    const piece = next(leader)

    leader.cancel()

    expect(script.isCancelled).toBe(true)
    expect(await piece).toBeUndefined()
    expect(stream.open(() => LOST)).toBeUndefined()
    expect(await leader.done).toEqual({ isWhole: false })
    await stream.over
    expect(stream.copy()).toEqual(new Uint8Array())
  })

  test('leaves the source to the others, and the next one leads', async () => {
    const { open, script } = share()
    const [leader, second, third] = [open(), open(), open()]
    await lead(leader, script, 1)

    leader.cancel()
    expect(await next(second)).toBe(1)
    await lead(second, script, 2, 2)

    expect(script.isCancelled).toBe(false)
    expect([await next(third), await next(third), await next(third)]).toEqual([1, 2, 3])
    third.cancel()
    second.cancel()
    expect(script.isCancelled).toBe(true)
  })

  test('twice leaves once', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    leader.cancel()
    leader.cancel()

    expect(script.isCancelled).toBe(false)
    expect(await leader.read()).toBeUndefined()
    follower.cancel()
  })
})

describe('the copy', () => {
  test('is all that was read, and the budget has it until the stream is closed', async () => {
    const { open, script, stream, budget } = share()
    const leader = open()
    await lead(leader, script, PIECES_OF_COPY)
    const end = next(leader)
    script.end()
    await end

    await stream.over
    expect(stream.copy()).toHaveLength(COPY_BYTES_MAX)
    expect(budget.taken).toBeGreaterThan(COPY_BYTES_MAX)
    stream.close()
    expect(budget.taken).toBe(0)
  })

  test('is given up when the stream grows beyond it; who comes then is too late', async () => {
    const shared = share()
    const { open, script, stream, budget } = shared
    const leader = open()
    await lead(leader, script, PIECES_OF_COPY)
    expect(shared.closed).toBe(0)

    await lead(leader, script, 1)

    expect(shared.closed).toBe(1)
    expect(stream.open(() => LOST)).toBeUndefined()
    expect(budget.taken).toBe(0)
    const end = next(leader)
    script.end()
    expect(await end).toBeUndefined()
    await stream.over
    expect(stream.copy()).toBeUndefined()
  })

  test('is given up when the budget has no room for it, and the leader reads on', async () => {
    const shared = share({ bytesMax: PIECE_BYTES })
    const { open, script, budget } = shared
    const leader = open()

    await lead(leader, script, 3)

    expect(shared.closed).toBe(1)
    expect(budget.taken).toBe(0)
  })
})

describe('beyond the copy', () => {
  test('a follower may be so far behind, and is lost when it is further', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(leader, script, PIECES_BEHIND)
    expect(await isSettled(follower.done)).toBe(false)

    await lead(leader, script, 1)

    expect(await follower.done).toEqual({ isWhole: false })
    expect(await follower.read()).toEqual(LOST)
    expect(await follower.read()).toBeUndefined()
  })

  test('one that keeps up is never lost, and nothing is held for it', async () => {
    const { open, script, budget } = share()
    const [leader, follower] = [open(), open()]
    for (let number = 1; number <= 3 * PIECES_BEHIND; number += 1) {
      const pieces = [next(leader), next(follower)]
      script.send(number)
      expect(await Promise.all(pieces)).toEqual([number, number])
    }

    expect(budget.taken).toBe(0)
  })

  test('a follower that is so far ahead of its leader waits for it', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(follower, script, PIECES_BEHIND)

    const ahead = next(follower)
    expect(await isSettled(ahead)).toBe(false)
    expect(script.reads).toBe(PIECES_BEHIND)
    expect(await next(leader)).toBe(1)
    expect(await isSettled(ahead)).toBe(false)
    script.send(99)

    expect(await ahead).toBe(99)
  })

  test('a follower that waits for its leader leads when that leaves', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(follower, script, PIECES_BEHIND)
    const ahead = next(follower)
    expect(await isSettled(ahead)).toBe(false)

    leader.cancel()
    await isSettled(ahead)
    script.send(99)

    expect(await ahead).toBe(99)
  })

  test('without room in the budget, nobody runs ahead of the leader', async () => {
    const { open, script } = share({ bytesMax: PIECE_BYTES })
    const [leader, follower] = [open(), open()]
    await lead(follower, script, 1)

    const ahead = next(follower)

    expect(await isSettled(ahead)).toBe(false)
    expect(script.reads).toBe(1)
    expect(await next(leader)).toBe(1)
    await turn()
    script.send(2)
    expect(await ahead).toBe(2)
  })

  test('without room in the budget, only those who keep up are kept', async () => {
    const { open, script, budget } = share({ bytesMax: PIECE_BYTES })
    const [leader, steady, slow] = [open(), open(), open()]
    for (const number of [1, 2, 3]) {
      const pieces = [next(leader), next(steady)]
      script.send(number)
      expect(await Promise.all(pieces)).toEqual([number, number])
    }

    expect(await slow.read()).toEqual(LOST)
    expect(budget.taken).toBe(0)
  })
})
