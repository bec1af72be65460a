import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Bytes } from '../../src/domain/bytes.ts'
import type { ByteStream } from '../../src/gateway/ports/byte-stream.ts'
import { replayBudget } from '../../src/stores/memory/answer-log.ts'
import { shortLivedPieces } from '../../src/http1/testing/short-lived-pieces.ts'
import { LAG_BYTES_MAX, COPY_BYTES_MAX, SharedStream } from '../../src/gateway/replays/shared-stream.ts'
import { turn } from '../support/turn.ts'

const PIECE_BYTES = 48 * 1024
/** The copy, the largest lag and one piece, with room for the overhead of the pieces. */
const HELD_BYTES_MAX = COPY_BYTES_MAX + LAG_BYTES_MAX + 2 * PIECE_BYTES
/** The content of the lag error. Pieces count from 1. */
const LAG_ERROR = 0
const READERS_MAX = 6

type Step = { readonly step: 'open' | 'read' | 'cancel' | 'produce'; readonly reader: number }

const aStep: fc.Arbitrary<Step> = fc.record({
  step: fc.oneof(
    { weight: 1, arbitrary: fc.constant('open' as const) },
    { weight: 10, arbitrary: fc.constant('read' as const) },
    { weight: 1, arbitrary: fc.constant('cancel' as const) },
    { weight: 6, arbitrary: fc.constant('produce' as const) },
  ),
  reader: fc.nat(READERS_MAX - 1),
})

/** One reader and the numbers of the pieces that it got. */
type Seen = {
  readonly source: ByteStream
  readonly numbers: number[]
  isReading: boolean
  isCancelled: boolean
}

/** A stream of `piecesMax` pieces, each its own number repeated, and readers that follow the steps. */
function aRun(piecesMax: number, budgetBytes: number) {
  let produced = 0
  let isCancelled = false
  let waiting: ((piece: Bytes | undefined) => void) | undefined
  const give = shortLivedPieces()
  const source: ByteStream = {
    read() {
      give(undefined)
      return isCancelled ? Promise.resolve(undefined) : new Promise(resolve => (waiting = resolve))
    },
    cancel() {
      isCancelled = true
      const take = waiting
      waiting = undefined
      take?.(undefined)
    },
  }
  const budget = replayBudget(budgetBytes)
  const stream = new SharedStream(source, { budget, onClosed: () => undefined })
  const readers: Seen[] = []

  const read = async (reader: Seen) => {
    reader.isReading = true
    const piece = await reader.source.read()
    reader.isReading = false
    if (piece !== undefined) reader.numbers.push(piece[0] ?? -1)
    return piece !== undefined
  }
  const steps: Record<Step['step'], (reader: Seen | undefined) => void> = {
    open() {
      const opened = readers.length < READERS_MAX ? stream.open(() => new Uint8Array([LAG_ERROR])) : undefined
      if (opened !== undefined)
        readers.push({ source: opened, numbers: [], isReading: false, isCancelled: false })
    },
    read(reader) {
      if (reader?.isReading === false) void read(reader)
    },
    cancel(reader) {
      if (reader === undefined) return
      reader.isCancelled = true
      reader.source.cancel()
    },
    produce() {
      const answer = waiting
      waiting = undefined
      if (answer === undefined) return
      produced += 1
      answer(give(produced > piecesMax ? undefined : new Uint8Array(PIECE_BYTES).fill(produced)))
    },
  }

  return {
    stream,
    budget,
    readers,
    take: async ({ step, reader }: Step) => {
      steps[step](readers[reader])
      await turn()
    },
    /** All remaining readers read to the end, in turns. */
    async finish() {
      const going = new Set(readers.filter(reader => !reader.isCancelled))
      while (going.size > 0) {
        for (const reader of going) {
          if (!reader.isReading) void read(reader).then(goesOn => goesOn || going.delete(reader))
        }
        await turn()
        steps.produce(undefined)
        await turn()
      }
    },
    /** The source has ended or was cancelled. */
    get hasEnded() {
      return isCancelled || produced > piecesMax
    },
  }
}

test('in any order of joining, reading and cancelling, no reader gets a wrong byte, the leader gets all, and memory is bounded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aStep, { minLength: 20, maxLength: 120 }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(0, COPY_BYTES_MAX / 2, 10 * HELD_BYTES_MAX),
      async (script, piecesMax, budgetBytes) => {
        const run = aRun(piecesMax, budgetBytes)
        await run.take({ step: 'open', reader: 0 })

        for (const step of script) {
          await run.take(step)
          expect(run.budget.taken).toBeLessThanOrEqual(Math.min(budgetBytes, HELD_BYTES_MAX))
        }
        await run.finish()
        run.stream.close()

        const all = Array.from({ length: piecesMax }, (_, index) => index + 1)
        for (const { numbers, isCancelled } of run.readers) {
          const isDropped = numbers.at(-1) === LAG_ERROR
          const pieces = isDropped ? numbers.slice(0, -1) : numbers
          expect(pieces).toEqual(all.slice(0, pieces.length))
          if (!isCancelled && !isDropped) expect(pieces).toHaveLength(piecesMax)
        }
        const leader = run.readers.find(({ isCancelled }) => !isCancelled)
        if (run.readers[0] === leader) expect(leader?.numbers).toEqual(all)
        expect(run.hasEnded).toBe(true)
        expect(run.budget.taken).toBe(0)
      },
    ),
    { numRuns: 200 },
  )
})
