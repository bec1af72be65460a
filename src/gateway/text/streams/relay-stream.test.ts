import { describe, expect, test } from 'bun:test'
import { noGuard } from '../../../../test/support/no-guard.ts'
import { fakeClock } from '../../../../test/support/fake-clock.ts'
import { countedEnds } from '../../../../test/support/counted-ends.ts'
import { anAccount, aTextHold } from '../../../../test/support/ledger-builders.ts'
import { aSqliteStore } from '../../../../test/support/test-store.ts'
import { aDestination, anAdmittedRequest } from '../../../../test/support/upstream-rows.ts'
import { DONE, FINISH, HEL, LO, ROLE, usage } from '../../../../test/support/stream-frames.ts'
import { turn } from '../../../../test/support/turn.ts'
import { until } from '../../../../test/support/until.ts'
import { usd } from '../../../domain/money.ts'
import { shortLivedPieces } from '../../../http1/testing/short-lived-pieces.ts'
import { parseJsonObject } from '../../../protocol/json/parse-json.ts'
import { chatDialect } from '../../../protocol/chat/dialect.ts'
import type { TextStream } from '../../../protocol/text-dialect.ts'
import { HoldQueue } from '../../admission/hold-queue.ts'
import type { StreamEnd, UpstreamStream } from '../../ports/providers/text-provider.ts'
import {
  FINISH_BYTES_MAX,
  FINISH_WITHIN_MS,
  FINISHING_BYTES_MAX,
  FINISHING_MAX,
  FinishingStreams,
} from './finishing-streams.ts'
import { IdleStreams } from './idle-streams.ts'
import { RecentPrompts } from '../recent-prompts.ts'
import { RelayedStream } from './relay-stream.ts'
import { WatchedUpstream } from './watched-upstream.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const main = aDestination('main')

/** The body of an upstream. The test sends its pieces and its end. Each read overwrites the piece before. */
function anUpstream() {
  const pieces: string[] = []
  const give = shortLivedPieces()
  let end: StreamEnd | undefined
  let wake = () => {}
  const upstream: UpstreamStream = {
    get end() {
      return end
    },
    async read() {
      give(undefined)
      if (pieces.length === 0 && end === undefined) await new Promise<void>(resolve => (wake = resolve))
      const piece = pieces.shift()
      return piece === undefined ? undefined : give(encoder.encode(piece))
    },
    cancel() {
      end ??= { end: 'aborted' }
      wake()
    },
  }
  return {
    upstream,
    send(...more: string[]) {
      pieces.push(...more)
      wake()
    },
    end(how: StreamEnd) {
      end = how
      wake()
    },
  }
}

type SetUp = {
  readonly first?: string
  readonly failsAt?: string
  /** The stream is that of a provider that bills an aborted call in full. */
  readonly finishAborted?: true
}

/** A relayed stream of an account with 1 USD. `first` was read when the stream was opened. */
async function setUp({ first = ROLE, failsAt, finishAborted }: SetUp = {}) {
  const store = aSqliteStore()
  const clock = fakeClock()
  const steps: string[] = []
  const ledger = countedEnds(store.ledger, steps)
  const holds = new HoldQueue({ ledger, guard: noGuard, clock }, { waitMs: 0, mode: 'hold' })
  const payer = await anAccount(store, { funds: usd('1') })
  const { hold: _, ...admitted } = anAdmittedRequest([main], payer)
  const { call, quote } = admitted
  const request = chatDialect.readRequest(parseJsonObject(call.body))
  const outcome = await holds.place(
    { ...aTextHold({ ...payer, amount: quote.amount }), id: call.id },
    call.client,
  )
  if (outcome.outcome !== 'held') throw new Error('The hold was refused.')
  const source = anUpstream()
  const stream = chatDialect.openStream(request, {
    model: 'gpt-x',
    limits: { inputTokensMax: undefined, outputTokensMax: 100 },
    fallback: { id: 'req_1', createdAtS: 0 },
  })
  const failures: unknown[] = []
  const idleStreams = new IdleStreams()
  const finishingStreams = new FinishingStreams(clock)
  const watched = finishAborted && new WatchedUpstream(source.upstream, clock)
  const provider = { ...main.provider, ...(finishAborted && { finishAborted }) }
  const relayed = new RelayedStream(
    {
      admitted: { ...admitted, hold: outcome.hold },
      attempt: { destination: { ...main, provider }, number: 1, result: undefined },
      opened: {
        rateLimits: [],
        retryAfter: undefined,
        reportedCost: null,
        upstream: watched ?? source.upstream,
        ...(watched && { watched }),
        stream: failsAt === undefined ? stream : failingAt(failsAt, stream),
        first: stream.feed(encoder.encode(first)),
      },
    },
    {
      ledger,
      holds,
      clock,
      tokenizer: { countTokens: async () => 1 },
      finishingStreams,
      idleStreams,
      recentPrompts: new RecentPrompts({ clock, hash: () => 0 }),
      onSettleFailed: error => failures.push(error),
    },
  )
  return {
    relayed,
    source,
    store,
    clock,
    failures,
    /** The calls that ended its hold. */
    steps,
    idleStreams,
    finishingStreams,
    held: quote.amount,
    record: call.record,
    balance: () => store.ledger.balance(payer.accountId),
    charges: () => store.ledger.usage(payer.accountId, { limit: 10 }),
  }
}

/** A stream with a bug: it throws when it is fed this piece. */
function failingAt(piece: string, stream: TextStream): TextStream {
  return {
    get isDone() {
      return stream.isDone
    },
    feed(chunk) {
      if (decoder.decode(chunk) === piece) throw new Error('a bug')
      return stream.feed(chunk)
    },
    end: () => stream.end(),
    reading: () => stream.reading(),
    finish: (charge, failure) => stream.finish(charge, failure),
  }
}

async function textOf(relayed: RelayedStream): Promise<string> {
  let text = ''
  for (let piece = await relayed.read(); piece !== undefined; piece = await relayed.read())
    text += decoder.decode(piece)
  return text
}

describe('a relayed stream', () => {
  test('a relayed stream is passed on and charged when it is complete', async () => {
    const { relayed, source, balance, charges } = await setUp()
    source.send(HEL, LO, FINISH, DONE)

    const text = await textOf(relayed)

    expect(text).toBe(ROLE + HEL + LO + FINISH + DONE)
    expect(await relayed.ended).toEqual({ isWhole: true })
    expect(await charges()).toMatchObject([{ provider: 'main', model: 'gpt-x', provenance: 'estimated' }])
    expect((await balance()).held.text).toBe(usd('0'))
  })

  test('a stream that breaks before any output frees its hold and charges nothing', async () => {
    const { relayed, source, balance, charges, record } = await setUp()
    source.end({ end: 'broken', reason: 'ECONNRESET' })

    const text = await textOf(relayed)

    expect(text).toContain('The stream broke off')
    expect(await relayed.ended).toEqual({ isWhole: false })
    expect(await charges()).toEqual([])
    expect(await balance()).toMatchObject({ available: usd('1'), held: { text: usd('0') } })
    expect(record).toEqual({
      upstreamProblem: 'the stream broke: ECONNRESET',
      upstreamFailures: [{ provider: 'main', reason: 'broken_stream' }],
      attempts: [{ provider: 'main', reason: 'broken_stream' }],
    })
  })

  test('a stream that its upstream leaves silent is counted as idle for its model', async () => {
    const { relayed, source, idleStreams } = await setUp()
    source.end({ end: 'idle' })

    await textOf(relayed)

    expect(idleStreams.list()).toEqual([['gpt-x', 1]])
  })

  test('a stream that breaks off is not counted as idle', async () => {
    const { relayed, source, idleStreams } = await setUp()
    source.end({ end: 'broken', reason: 'ECONNRESET' })

    await textOf(relayed)

    expect(idleStreams.list()).toEqual([])
  })

  test('a stream that is charged does not release its hold, because the charge has ended it', async () => {
    const { relayed, source, steps } = await setUp()
    source.send(HEL, LO, FINISH, DONE)

    await textOf(relayed)
    await relayed.ended

    expect(steps).toEqual(['capture'])
  })

  test('a stream ends with an error, and frees its hold, if the charge cannot be recorded', async () => {
    const { relayed, source, store, failures, balance } = await setUp()
    source.send(HEL, LO, FINISH, DONE)
    await store.close()

    const text = await textOf(relayed)

    expect(text).toContain('The gateway failed to settle this stream.')
    expect(text).not.toContain('[DONE]')
    expect(await relayed.ended).toEqual({ isWhole: false })
    expect(failures).toMatchObject([{ code: 'unavailable' }])
    expect((await balance()).held.text).toBe(usd('0'))
  })

  test('a stream with a piece that cannot be read ends as a broken stream, and is charged', async () => {
    const { relayed, source, failures, charges } = await setUp({ failsAt: LO })
    source.send(HEL, LO, FINISH, DONE)

    const text = await textOf(relayed)

    expect(text).toStartWith(ROLE + HEL)
    expect(text).toContain('The stream broke off')
    expect(source.upstream.end).toEqual({ end: 'aborted' })
    expect(failures).toMatchObject([{ message: 'a bug' }])
    expect(await charges()).toHaveLength(1)
  })
})

describe('cancelling a relayed stream', () => {
  test('cancelling a stream ends a read that waits, and charges the output so far', async () => {
    const { relayed, source, charges, record } = await setUp({ first: ROLE + HEL })
    await relayed.read()
    const waiting = relayed.read()

    relayed.cancel()

    expect(await waiting).toBeUndefined()
    expect(await relayed.ended).toEqual({ isWhole: false })
    expect(source.upstream.end).toEqual({ end: 'aborted' })
    expect(await charges()).toHaveLength(1)
    expect(record.clientDisconnected).toBe(true)
  })

  test('a complete stream that is cancelled is charged once, and counts as not read', async () => {
    const { relayed, source, charges } = await setUp()
    source.send(HEL + FINISH + DONE)
    await relayed.read()
    await relayed.read()

    relayed.cancel()
    relayed.cancel()

    expect(await relayed.ended).toEqual({ isWhole: false })
    expect(await relayed.read()).toBeUndefined()
    expect(await charges()).toHaveLength(1)
  })

  test('cancelling a stream while it is settled changes nothing', async () => {
    const { relayed, source, charges } = await setUp()
    source.send(HEL + FINISH + DONE)
    await relayed.read()
    await relayed.read()
    const last = relayed.read()

    relayed.cancel()

    expect(decoder.decode(await last)).toEndWith(DONE)
    expect(await relayed.ended).toEqual({ isWhole: true })
    expect(await charges()).toHaveLength(1)
  })
})

describe('cancelling a stream of a provider that bills an aborted call in full', () => {
  const USAGE = usage({ prompt_tokens: 9, completion_tokens: 80 })
  /** A comment. Two of them are longer than a stream may be. */
  const HALF = `: ${'x'.repeat(FINISH_BYTES_MAX / 2)}\n\n`

  /** A stream whose client disconnects after some output, while a read for it waits. */
  async function left() {
    const opened = await setUp({ first: ROLE + HEL, finishAborted: true })
    await opened.relayed.read()
    const waiting = opened.relayed.read()
    opened.relayed.cancel()
    return { ...opened, waiting }
  }

  test('cancelling a stream that is billed in full ends a waiting read at once, and charges the usage at its end', async () => {
    const { relayed, source, waiting, charges, balance, finishingStreams, held, record } = await left()
    const read = await waiting
    const during = { running: finishingStreams.running, held: (await balance()).held.text }

    source.send(LO, FINISH + USAGE, DONE)

    expect(read).toBeUndefined()
    expect(during).toEqual({ running: 1, held })
    expect(await relayed.ended).toEqual({ isWhole: false })
    expect(await relayed.read()).toBeUndefined()
    expect(await charges()).toMatchObject([
      { provenance: 'reported', usage: { input: 9, output: 80 }, cost: usd('0.000818') },
    ])
    expect((await balance()).held.text).toBe(usd('0'))
    expect(record.clientDisconnected).toBe(true)
    await until('no stream is finished', () => finishingStreams.running === 0)
  })

  test('every piece of a cancelled stream counts, however close to the disconnect it arrives', async () => {
    const counted: unknown[] = []
    for (let steps = 0; steps < 12; steps += 1) {
      const { relayed, source, charges } = await setUp({ first: ROLE + HEL, finishAborted: true })
      await relayed.read()
      void relayed.read()
      source.send(USAGE)
      for (let step = 0; step < steps; step += 1) await Promise.resolve()

      relayed.cancel()
      source.send(DONE)

      await relayed.ended
      counted.push((await charges())[0]?.cost)
    }

    expect(counted).toEqual(Array(12).fill(usd('0.000818')))
  })

  test('a cancelled stream that is billed in full is charged at most its hold', async () => {
    const { relayed, source, charges, held, store } = await left()

    source.send(FINISH + usage({ prompt_tokens: 90_000, completion_tokens: 80 }), DONE)

    await relayed.ended
    const [charge] = await charges()
    expect(charge).toMatchObject({ provenance: 'reported', isClamped: true })
    expect(charge!.cost).toBeLessThanOrEqual(held)
    expect(await store.ledger.verify()).toMatchObject({ problems: [] })
  })

  test('cancelling a stream before any output ends the call, and charges nothing', async () => {
    const { relayed, source, charges } = await setUp({ finishAborted: true })
    await relayed.read()

    relayed.cancel()

    await relayed.ended
    expect(source.upstream.end).toEqual({ end: 'aborted' })
    expect(await charges()).toEqual([])
  })

  test('a cancelled stream is charged what was received if the upstream breaks then', async () => {
    const { relayed, source, charges, record } = await left()
    source.send(LO)

    source.end({ end: 'broken', reason: 'ECONNRESET' })

    await relayed.ended
    expect(await charges()).toMatchObject([{ provenance: 'estimated' }])
    expect(record).toMatchObject({
      clientDisconnected: true,
      upstreamProblem: 'the stream broke: ECONNRESET',
    })
  })

  test.each<[string, (stream: Awaited<ReturnType<typeof left>>) => void]>([
    ['the time limit', ({ clock }) => clock.advance(FINISH_WITHIN_MS)],
    ['the limit of its bytes', ({ source }) => source.send(HALF, HALF)],
    ['a stop', ({ finishingStreams }) => finishingStreams.stop()],
  ])('the call of a cancelled stream ends at %s, and what was received is charged', async (_, reach) => {
    const stream = await left()
    await turn()

    reach(stream)

    await stream.relayed.ended
    expect(stream.source.upstream.end).toEqual({ end: 'aborted' })
    expect(await stream.charges()).toMatchObject([{ provenance: 'estimated', usage: { output: 1 } }])
    expect((await stream.balance()).held.text).toBe(usd('0'))
  })

  test.each<[string, (streams: FinishingStreams) => void]>([
    [
      'too many are finished',
      streams => {
        for (let begun = 0; begun < FINISHING_MAX; begun += 1) streams.begin(0, () => {})
      },
    ],
    ['their requests are too large', streams => void streams.begin(FINISHING_BYTES_MAX, () => {})],
    ['the gateway stops', streams => streams.stop()],
  ])('the call of a cancelled stream ends at once if %s', async (_, fill) => {
    const { relayed, source, finishingStreams, charges } = await setUp({
      first: ROLE + HEL,
      finishAborted: true,
    })
    fill(finishingStreams)

    relayed.cancel()

    await relayed.ended
    expect(source.upstream.end).toEqual({ end: 'aborted' })
    expect(await charges()).toMatchObject([{ provenance: 'estimated' }])
  })
})

test('an upstream that does not close its complete stream is cancelled after a second', async () => {
  const { relayed, source, clock } = await setUp()
  source.send(HEL, FINISH, DONE)
  await textOf(relayed)
  const before = source.upstream.end

  clock.advance(1000)

  expect([before, source.upstream.end]).toEqual([undefined, { end: 'aborted' }])
})
