import { describe, expect, test } from 'bun:test'
import { turn } from '../../../test/support/turn.ts'
import type { Bytes } from '../../domain/bytes.ts'
import { shortLivedPieces } from '../../http1/testing/short-lived-pieces.ts'
import { COMMENT } from '../../protocol/sse/heartbeat.ts'
import type { ByteStream } from '../ports/byte-stream.ts'
import { replayBudget } from '../../stores/memory/answer-log.ts'
import { LAG_BYTES_MAX, COPY_BYTES_MAX, SharedStream } from './shared-stream.ts'

const LAG_ERROR = new TextEncoder().encode('lag error')
const PIECE_BYTES = 64 * 1024
const PIECES_OF_COPY = COPY_BYTES_MAX / PIECE_BYTES
const PIECES_OF_LAG = LAG_BYTES_MAX / PIECE_BYTES

/** A source whose pieces the test sends. Each piece is one number, repeated. Each read overwrites the piece before. */
function aSource() {
  const give = shortLivedPieces()
  const waiting: ((piece: Bytes | undefined) => void)[] = []
  let reads = 0
  let isCancelled = false
  const source: ByteStream = {
    read() {
      reads += 1
      give(undefined)
      return isCancelled ? Promise.resolve(undefined) : new Promise(resolve => waiting.push(resolve))
    },
    cancel() {
      isCancelled = true
      for (const take of waiting.splice(0)) take(undefined)
    },
  }
  return {
    source,
    /** Resolves the read that waits. */
    send: (number: number, length = PIECE_BYTES) =>
      waiting.shift()!(give(new Uint8Array(length).fill(number))),
    beat: () => waiting.shift()!(COMMENT),
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
    open: () => stream.open(() => LAG_ERROR)!,
    get closed() {
      return closed
    },
  }
}

/** The number in the next piece. */
const next = async (reader: ByteStream) => (await reader.read())?.[0]

/** The reader reads `count` pieces, with the numbers from `from`. */
async function lead(leader: ByteStream, script: ReturnType<typeof aSource>, count: number, from = 1) {
  for (let number = from; number < from + count; number += 1) {
    const piece = leader.read()
    script.send(number)
    await piece
  }
}

/** Whether a promise is settled after one turn of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await turn()
  return settled
}

describe('readers', () => {
  test('readers that read at the same time cause one read of the source, and all get the piece', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]

    const pieces = [next(leader), next(follower)]
    script.send(7)

    expect(await Promise.all(pieces)).toEqual([7, 7])
    expect(script.reads).toBe(1)
  })

  test('readers that join later get the stream from its start', async () => {
    const { open, script } = share()
    const leader = open()
    await lead(leader, script, 2)

    const follower = open()

    expect([await next(follower), await next(follower)]).toEqual([1, 2])
    expect(script.reads).toBe(2)
  })

  test('readers may read ahead of a stalled leader, which still gets every piece', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(follower, script, 3)

    expect([await next(leader), await next(leader), await next(leader)]).toEqual([1, 2, 3])
  })

  test('readers get the end, and each ends when it has read it', async () => {
    const { open, script, stream } = share()
    const [leader, follower] = [open(), open()]
    await lead(leader, script, 1)
    const end = next(leader)
    script.end()

    expect(await end).toBeUndefined()
    expect(await leader.ended).toEqual({ isWhole: true })
    expect(await isSettled(follower.ended)).toBe(false)
    expect([await next(follower), await next(follower), await next(follower)]).toEqual([
      1,
      undefined,
      undefined,
    ])
    expect(await follower.ended).toEqual({ isWhole: true })
    await stream.sourceEnded
    expect(stream.copy()).toHaveLength(PIECE_BYTES)
  })
})

describe('cancelling a reader', () => {
  test('cancelling a reader cancels the source if it is the only reader', async () => {
    const { open, script, stream } = share()
    const leader = open()
    const piece = next(leader)

    leader.cancel()

    expect(script.isCancelled).toBe(true)
    expect(await piece).toBeUndefined()
    expect(stream.open(() => LAG_ERROR)).toBeUndefined()
    expect(await leader.ended).toEqual({ isWhole: false })
    await stream.sourceEnded
    expect(stream.copy()).toEqual(new Uint8Array())
  })

  test('cancelling a reader leaves the source to the others, and the next reader leads', async () => {
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

  test('cancelling a reader twice counts once', async () => {
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
  test('the copy is everything that was read, and counts in the budget until the stream is closed', async () => {
    const { open, script, stream, budget } = share()
    const leader = open()
    await lead(leader, script, PIECES_OF_COPY)
    const end = next(leader)
    script.end()
    await end

    await stream.sourceEnded
    expect(stream.copy()).toHaveLength(COPY_BYTES_MAX)
    expect(budget.taken).toBeGreaterThan(COPY_BYTES_MAX)
    stream.close()
    expect(budget.taken).toBe(0)
  })

  test('the copy is dropped when the stream becomes too long, and then no reader can join', async () => {
    const shared = share()
    const { open, script, stream, budget } = shared
    const leader = open()
    await lead(leader, script, PIECES_OF_COPY)
    expect(shared.closed).toBe(0)

    await lead(leader, script, 1)

    expect(shared.closed).toBe(1)
    expect(stream.open(() => LAG_ERROR)).toBeUndefined()
    expect(budget.taken).toBe(0)
    const end = next(leader)
    script.end()
    expect(await end).toBeUndefined()
    await stream.sourceEnded
    expect(stream.copy()).toBeUndefined()
  })

  test('the copy is dropped when the budget has no room for it, and the leader reads on', async () => {
    const shared = share({ bytesMax: PIECE_BYTES })
    const { open, script, budget } = shared
    const leader = open()

    await lead(leader, script, 3)

    expect(shared.closed).toBe(1)
    expect(budget.taken).toBe(0)
  })
})

describe('after the copy was dropped', () => {
  test('a follower is dropped when its lag exceeds the limit, and gets an error as its last bytes', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(leader, script, PIECES_OF_LAG)
    expect(await isSettled(follower.ended)).toBe(false)

    await lead(leader, script, 1)

    expect(await follower.ended).toEqual({ isWhole: false })
    expect(await follower.read()).toEqual(LAG_ERROR)
    expect(await follower.read()).toBeUndefined()
  })

  test('a follower that keeps up is never dropped, and nothing is buffered for it', async () => {
    const { open, script, budget } = share()
    const [leader, follower] = [open(), open()]
    for (let number = 1; number <= 3 * PIECES_OF_LAG; number += 1) {
      const pieces = [next(leader), next(follower)]
      script.send(number)
      expect(await Promise.all(pieces)).toEqual([number, number])
    }

    expect(budget.taken).toBe(0)
  })

  test('a follower that is too far ahead of the leader waits for it', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(follower, script, PIECES_OF_LAG)

    const ahead = next(follower)
    expect(await isSettled(ahead)).toBe(false)
    expect(script.reads).toBe(PIECES_OF_LAG)
    expect(await next(leader)).toBe(1)
    expect(await isSettled(ahead)).toBe(false)
    script.send(99)

    expect(await ahead).toBe(99)
  })

  test('a follower that waits for the leader leads when the leader is cancelled', async () => {
    const { open, script } = share()
    const [leader, follower] = [open(), open()]
    await lead(follower, script, PIECES_OF_LAG)
    const ahead = next(follower)
    expect(await isSettled(ahead)).toBe(false)

    leader.cancel()
    await isSettled(ahead)
    script.send(99)

    expect(await ahead).toBe(99)
  })

  test('without room in the budget, no follower reads ahead of the leader', async () => {
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

  test('without room in the budget, only followers that keep up are not dropped', async () => {
    const { open, script, budget } = share({ bytesMax: PIECE_BYTES })
    const [leader, steady, slow] = [open(), open(), open()]
    for (const number of [1, 2, 3]) {
      const pieces = [next(leader), next(steady)]
      script.send(number)
      expect(await Promise.all(pieces)).toEqual([number, number])
    }

    expect(await slow.read()).toEqual(LAG_ERROR)
    expect(budget.taken).toBe(0)
  })
})

describe('a heartbeat', () => {
  test('a heartbeat goes to every reader that waits, and is not kept', async () => {
    const { stream, script, open } = share()
    const [leader, follower] = [open(), open()]
    const waiting = [leader.read(), follower.read()]
    await turn()
    script.beat()
    const beats = await Promise.all(waiting)

    const rest = [next(leader), next(follower)]
    await turn()
    script.send(7)
    const pieces = await Promise.all(rest)

    expect(beats).toEqual([COMMENT, COMMENT])
    expect(pieces).toEqual([7, 7])
    expect(stream.copy()).toEqual(new Uint8Array(PIECE_BYTES).fill(7))
  })

  test('a heartbeat does not go to a reader that joins later or has bytes to read', async () => {
    const { script, open } = share()
    const leader = open()
    const follower = open()
    const first = next(leader)
    await turn()
    script.send(1)
    await first
    const beat = leader.read()
    await turn()
    script.beat()
    await beat
    const late = open()

    const pieces = [await next(follower), await next(late)]
    const waiting = [next(leader), next(follower), next(late)]
    await turn()
    script.send(2)

    expect(pieces).toEqual([1, 1])
    expect(await Promise.all(waiting)).toEqual([2, 2, 2])
  })
})
