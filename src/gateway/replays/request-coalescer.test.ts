import { describe, expect, test } from 'bun:test'
import { aFingerprint } from '../../../test/conformance/replays.ts'
import { streamOf, streamOfText, textOf } from '../../../test/support/byte-streams.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { sentText } from '../../../test/support/sent-text.ts'
import { turn } from '../../../test/support/turn.ts'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { GatewayError } from '../../domain/errors.ts'
import { chatDialect } from '../../protocol/chat/dialect.ts'
import { responsesDialect } from '../../protocol/responses/dialect.ts'
import type { StreamDialect } from '../../protocol/text-dialect.ts'
import type { KeptAnswer, Replays } from '../ports/requests/replays.ts'
import type { TextCall } from '../text/text-call.ts'
import type { StreamEnding, StreamedAnswer, TextResult, CompleteAnswer } from '../text/text-result.ts'
import { replayBudget } from '../../stores/memory/answer-log.ts'
import { RequestCoalescer } from './request-coalescer.ts'

type Change = Partial<Omit<TextCall, 'client'>>

const PATIENCE_MS = 300_000
const HOUR_MS = 3_600_000

/** The request that paid for a kept answer. */
const FIRST = { id: { key: 7n, tail: 8n }, userId: 'eve' }

const FAILURE: TextResult = { kind: 'error', error: new GatewayError('upstream_error', 'It failed.') }

function anAnswer(body: string): CompleteAnswer {
  return {
    kind: 'answer',
    model: 'gpt-x',
    contentType: 'application/json',
    body,
    rateLimits: [['x-ratelimit-limit', '9']],
    retryAfter: '3',
    usage: null,
    cost: null,
  }
}

/** A stream with the same headers that has not ended. */
function aStream(): StreamedAnswer {
  const { model, contentType, rateLimits, retryAfter } = anAnswer('')
  const { promise: ended } = Promise.withResolvers<StreamEnding>()
  return { kind: 'stream', model, contentType, rateLimits, retryAfter, body: streamOf([]), ended }
}

/** A stream of one text that is complete and charged. */
function aWholeStream(text: string): StreamedAnswer {
  return { ...aStream(), body: streamOfText(text), ended: Promise.resolve({ isWhole: true }) }
}

/** The body of an answer, or all text of a stream. */
async function bodyOf(result: TextResult): Promise<unknown> {
  if (result.kind === 'stream') return textOf(result.body)
  return result.kind === 'answer' ? result.body : result.kind
}

/** A store of replays whose lookups, and whose writes, resolve when the test says so. */
function slowReplays() {
  const lookups: ((found: KeptAnswer | undefined) => void)[] = []
  const writes: (() => void)[] = []
  const replays: Replays = {
    find: () => new Promise(resolve => lookups.push(resolve)),
    keep: () => new Promise(resolve => writes.push(resolve)),
  }
  return {
    replays,
    lookups,
    writes,
    /** Answers all lookups that wait. */
    async found(answer?: KeptAnswer) {
      for (const resolve of lookups.splice(0)) resolve(answer)
      await turn()
    },
    /** Ends all writes that wait. */
    async kept() {
      for (const resolve of writes.splice(0)) resolve()
      await turn()
    },
  }
}

/** A store of replays that finds nothing. */
const noReplays: Replays = { find: async () => undefined, keep: async () => {} }

function setUp(replays: Replays = noReplays) {
  const clock = fakeClock()
  const budget = replayBudget(1 << 20)
  const coalescer = new RequestCoalescer(
    {
      replays,
      budget,
      clock,
      sha256: text => aFingerprint(text).digest,
    },
    { patienceMs: PATIENCE_MS },
  )
  /** The calls of the model, in their order. The test answers each. */
  const calls: PromiseWithResolvers<TextResult>[] = []
  const ask = (change: Change = {}, dialect: StreamDialect = chatDialect) => {
    const client = new AbortController()
    const call = { ...anAdmittedRequest([aDestination('main')]).call, ...change, client }
    const result = coalescer.answer(call, dialect, () => {
      const answering = Promise.withResolvers<TextResult>()
      calls.push(answering)
      return answering.promise
    })
    // A test may look at a rejection later.
    result.catch(() => undefined)
    return { result, client, record: call.record, id: call.id }
  }
  return { clock, ask, calls, budget }
}

describe('with a replay store that answers later', () => {
  test('two identical requests lead to one call of the model', async () => {
    const store = slowReplays()
    const { ask, calls } = setUp(store.replays)

    const [first, second] = [ask(), ask()]
    await turn()
    expect(store.lookups).toHaveLength(1)
    await store.found()
    calls[0]!.resolve(anAnswer('the answer'))

    expect(await first.result).toEqual(anAnswer('the answer'))
    expect(await second.result).toMatchObject({ body: 'the answer', isReplay: true })
    expect(calls).toHaveLength(1)
  })

  test('two identical requests both get a kept answer, without a call', async () => {
    const store = slowReplays()
    const { ask, calls } = setUp(store.replays)

    const asked = [ask(), ask()]
    await turn()
    await store.found({ first: FIRST, contentType: 'application/json', model: 'gpt-x', body: 'kept' })

    for (const { result, record } of asked) {
      expect(await result).toMatchObject({ kind: 'answer', body: 'kept', isReplay: true })
      expect(record).toMatchObject({ isReplay: true, model: 'gpt-x', replayOf: FIRST.id, userId: 'eve' })
    }
    expect(calls).toHaveLength(0)
  })

  test('a request that comes after a failure leads to one call with those that waited', async () => {
    const store = slowReplays()
    const { ask, calls } = setUp(store.replays)
    const asked = [ask(), ask(), ask()]
    await store.found()

    calls[0]!.resolve(FAILURE)
    await turn()
    asked.push(ask())
    await store.found()
    expect(calls).toHaveLength(2)
    calls[1]!.resolve(anAnswer('the answer'))

    const results = await Promise.all(asked.map(({ result }) => result))
    expect(results.map(({ kind }) => kind)).toEqual(['error', 'answer', 'answer', 'answer'])
  })
})

describe.each([
  ['an answer', anAnswer],
  ['a stream', aWholeStream],
])('while %s is being kept', (_, answerWith) => {
  /** Two requests that have got the answer. The store is still writing it. */
  async function answered() {
    const store = slowReplays()
    const { ask, calls } = setUp(store.replays)
    const asked = [ask(), ask()]
    await store.found()
    calls[0]!.resolve(answerWith('the answer'))
    for (const { result } of asked) expect(await bodyOf(await result)).toBe('the answer')
    await turn()
    expect(store.writes).toHaveLength(1)
    return { store, ask, calls }
  }

  test('a third identical request is a replay, without a call of the model', async () => {
    const { store, ask, calls } = await answered()

    const third = ask()
    await turn()

    expect(store.lookups).toHaveLength(0)
    expect(await third.result).toMatchObject({ isReplay: true })
    expect(await bodyOf(await third.result)).toBe('the answer')
    expect(calls).toHaveLength(1)
  })

  test('it can be joined, and requests after that ask the store', async () => {
    const { store, ask, calls } = await answered()
    await store.kept()

    const next = ask()
    await store.found({ first: FIRST, contentType: 'text/plain', model: 'gpt-x', body: 'kept' })

    expect(await bodyOf(await next.result)).toBe('kept')
    expect(calls).toHaveLength(1)
  })
})

describe('a follower', () => {
  test('a follower gets the answer without the rate limits and the Retry-After of the first request', async () => {
    const { ask, calls } = setUp()
    const [first, second] = [ask(), ask()]
    await turn()

    calls[0]!.resolve(anAnswer('the answer'))

    expect(await first.result).toEqual(anAnswer('the answer'))
    expect(await second.result).toEqual({
      ...anAnswer('the answer'),
      rateLimits: [],
      retryAfter: undefined,
      isReplay: true,
      first: { id: first.id },
    })
  })

  test.each([
    ['an answer', anAnswer],
    ['a stream', aWholeStream],
  ])('a follower of %s records the request that pays, and its end user', async (_, answerWith) => {
    const { ask, calls } = setUp()
    const first = ask({ id: { key: 5n, tail: 6n } })
    await turn()
    const second = ask()
    // The body of the first request is read before the model is called.
    first.record.userId = 'eve'

    calls[0]!.resolve(answerWith('the answer'))
    await second.result

    expect(second.record).toMatchObject({ isReplay: true, replayOf: { key: 5n, tail: 6n }, userId: 'eve' })
    expect(first.record).not.toHaveProperty('replayOf')
  })

  test('a follower of a stream gets it without the rate limits and the Retry-After of the first request', async () => {
    const { ask, calls } = setUp()
    const [first, second] = [ask(), ask()]
    await turn()

    calls[0]!.resolve(aStream())

    expect(await first.result).toMatchObject({ rateLimits: [['x-ratelimit-limit', '9']], retryAfter: '3' })
    expect(await second.result).toMatchObject({ rateLimits: [], retryAfter: undefined, isReplay: true })
  })

  test('a follower that disconnects gets an error, and the call continues', async () => {
    const { ask, calls } = setUp()
    const [first, second] = [ask(), ask()]
    await turn()

    second.client.abort()

    expect(await rejection(second.result)).toMatchObject({ code: 'upstream_error' })
    calls[0]!.resolve(anAnswer('the answer'))
    expect(await first.result).toMatchObject({ body: 'the answer' })
  })

  test.each([-HOUR_MS, 0, HOUR_MS])(
    'a follower calls the model itself when its patience is over, also if the wall clock moves by %d ms',
    async moveMs => {
      const { ask, calls, clock } = setUp()
      const failing = [ask(), ask()]
      await turn()
      const impatient = ask()
      clock.setWallClock(clock.now() + moveMs)

      clock.advance(PATIENCE_MS - 1)
      calls[0]!.resolve(FAILURE)
      await turn()
      expect(calls).toHaveLength(2)
      const late = ask()
      clock.advance(1)
      calls[1]!.resolve(FAILURE)
      await turn()
      expect(calls).toHaveLength(3)
      calls[2]!.resolve(anAnswer('the answer'))

      const asked = [...failing, impatient, late]
      const results = await Promise.all(asked.map(({ result }) => result))
      expect(results.map(({ kind }) => kind)).toEqual(['error', 'error', 'answer', 'answer'])
    },
  )
})

describe('requests are not identical', () => {
  test.each<[string, Change, StreamDialect]>([
    ['with another body', { body: sentText('{"model":"gpt-x","messages":[]}') }, chatDialect],
    ['on another route', {}, responsesDialect],
    ['of another key', otherKey(), chatDialect],
  ])('requests are not identical %s', async (_, change, dialect) => {
    const { ask, calls } = setUp()

    const asked = [ask(), ask(change, dialect)]
    await turn()

    expect(calls).toHaveLength(2)
    for (const call of calls) call.resolve(anAnswer('the answer'))
    for (const { result } of asked) expect(await result).not.toHaveProperty('isReplay')
  })

  function otherKey(): Change {
    const { caller } = anAdmittedRequest([aDestination('main')], { accountId: 1, apiKeyId: 2 }).call
    return { caller }
  }
})

test('when an older request ends, a newer identical one that is in flight can still be joined', async () => {
  const { ask, calls, clock } = setUp()
  const older = ask()
  await turn()
  const waiting = ask()
  clock.advance(PATIENCE_MS)
  calls[0]!.resolve(FAILURE)
  await older.result
  await turn()
  expect(calls).toHaveLength(2)

  const joining = ask()
  await turn()
  calls[1]!.resolve(anAnswer('the answer'))

  expect(await waiting.result).toMatchObject({ body: 'the answer' })
  expect(await joining.result).toMatchObject({ body: 'the answer', isReplay: true })
  expect(calls).toHaveLength(2)
})

test('requests whose patience is over call the model together, and the end of one leaves the others joinable', async () => {
  const { ask, calls, clock } = setUp()
  const failing = ask()
  await turn()
  const impatient = [ask(), ask()]
  clock.advance(PATIENCE_MS)
  calls[0]!.resolve(FAILURE)
  await failing.result
  await turn()
  expect(calls).toHaveLength(3)

  calls[1]!.resolve(FAILURE)
  await impatient[0]!.result
  const joining = ask()
  await turn()
  calls[2]!.resolve(anAnswer('the answer'))

  expect(await impatient[1]!.result).toEqual(anAnswer('the answer'))
  expect(await joining.result).toMatchObject({ body: 'the answer', isReplay: true })
  expect(calls).toHaveLength(3)
})

test('a request whose answer threw leaves its followers to call the model themselves', async () => {
  const { ask, calls } = setUp()
  const [first, second] = [ask(), ask()]
  await turn()

  calls[0]!.reject(new Error('a bug'))
  await turn()
  calls[1]!.resolve(anAnswer('the answer'))

  expect(await rejection(first.result)).toHaveProperty('message', 'a bug')
  expect(await second.result).toEqual(anAnswer('the answer'))
})

test('the copy of a stream that continues without its readers is dropped when they have left', async () => {
  const { ask, calls, budget } = setUp()
  const { result } = ask()
  await turn()
  // Its `ended` does not resolve: it is read on for its charge.
  calls[0]!.resolve({ ...aStream(), body: streamOfText('the first part') })
  const stream = await result
  if (stream.kind !== 'stream') throw new Error('Not a stream.')
  await stream.body.read()
  const copied = budget.taken

  stream.body.cancel()
  await turn()

  expect(copied).toBeGreaterThan(0)
  expect(budget.taken).toBe(0)
})
