import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { countedEnds } from '../../../test/support/counted-ends.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { adaptersOfAllKinds } from '../../../test/support/media-providers.ts'
import { noGuard } from '../../../test/support/no-guard.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { turn } from '../../../test/support/turn.ts'
import { aCatalogOf, aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { usd } from '../../domain/money.ts'
import { notRecorded } from '../../stores/books/store-errors.ts'
import { HoldQueue } from '../admission/hold-queue.ts'
import type { Attempts } from '../ports/ledger/attempts.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { ProviderOutcome, TextProvider } from '../ports/providers/text-provider.ts'
import { CircuitBreakers, RetryBudgets } from '../upstreams/upstream-health.ts'
import { LateAnswers } from './late-answers.ts'
import { RefusedFields } from '../upstreams/refused-fields.ts'
import { DisconnectSignal } from './disconnect-signal.ts'
import { FinishingStreams } from './streams/finishing-streams.ts'
import { IdleStreams } from './streams/idle-streams.ts'
import { RecentPrompts } from './recent-prompts.ts'
import { runText } from './run-text.ts'

const main = aDestination('main')

const ANSWER: ProviderOutcome = {
  outcome: 'answered',
  status: 200,
  contentType: 'application/json',
  rateLimits: [['x-ratelimit-limit', '9']],
  reportedCost: null,
  body: JSON.stringify({
    object: 'chat.completion',
    model: 'main-model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
}

type Around = {
  /** Wraps a port of the store, to hold its calls up. */
  readonly ledgerFrom?: (ledger: Ledger) => Ledger
  readonly attemptsFrom?: (attempts: Attempts) => Attempts
  readonly onSettleFailed?: (error: unknown) => void
}

/** A ledger that places holds, and cannot end them. */
function endingNone(ledger: Ledger): Ledger {
  const fail = () => Promise.reject(notRecorded(new Error('The database is lost.')))
  return { ...ledger, captureHold: fail, releaseHold: fail }
}

function rethrow(error: unknown): never {
  throw error
}

/** Runs one request of an account with 1 USD, whose upstream is this function. */
async function setUp(
  complete: TextProvider['complete'],
  {
    ledgerFrom = ledger => ledger,
    attemptsFrom = attempts => attempts,
    onSettleFailed = rethrow,
  }: Around = {},
) {
  const store = aSqliteStore()
  const clock = fakeClock()
  const catalog = { current: () => aCatalogOf([main]) }
  const payer = await anAccount(store, { funds: usd('1') })
  const { call, dialect, request } = anAdmittedRequest([main], payer)
  const ledger = ledgerFrom(store.ledger)
  const attempts = attemptsFrom(store.attempts)
  const provider: TextProvider = { complete, stream: () => Promise.reject(new Error('not called')) }
  const adapter = { text: provider, probe: () => Promise.reject(new Error('not called')) }
  const run = () =>
    runText(
      { call, dialect, request },
      {
        attempts,
        catalog: { ...store.catalog, ...catalog },
        circuitBreakers: new CircuitBreakers({ catalog, clock }),
        retryBudgets: new RetryBudgets(clock),
        clock,
        ledger,
        holds: new HoldQueue({ ledger, guard: noGuard, clock }, { waitMs: 0, mode: 'hold' }),
        lateAnswers: new LateAnswers({ attempts, clock, onBilled: () => {}, onFailed: onSettleFailed }),
        finishingStreams: new FinishingStreams(clock),
        stopSignal: new DisconnectSignal(),
        idleStreams: new IdleStreams(),
        moderator: undefined,
        refusedFields: new RefusedFields(),
        onSettleFailed,
        providers: adaptersOfAllKinds(adapter),
        random: () => 0,
        secretOf: () => undefined,
        tokenizer: { countTokens: async () => 1 },
        recentPrompts: new RecentPrompts({ clock, hash: () => 0 }),
      },
      { readTimeoutMs: 300_000, streamIdleTimeoutMs: 60_000, isSandboxOn: true },
    )
  return { run, store, record: call.record, balance: () => ledger.balance(payer.accountId) }
}

test('an answer is charged before it is returned', async () => {
  const { run, balance, record } = await setUp(async () => ANSWER)

  const result = await run()

  expect(result).toMatchObject({
    kind: 'answer',
    model: 'gpt-x',
    contentType: 'application/json',
    rateLimits: [['x-ratelimit-limit', '9']],
    usage: { input: 10, output: 5 },
    cost: usd('0.00007'),
  })
  expect(await balance()).toMatchObject({ available: usd('0.99993'), held: { text: usd('0') } })
  expect(record).toMatchObject({
    model: 'gpt-x',
    provider: 'main',
    upstreamStatus: 200,
    cost: usd('0.00007'),
  })
})

test('the worst case is held while the upstream is called', async () => {
  const held: bigint[] = []
  const { run, balance } = await setUp(async () => {
    held.push((await balance()).held.text)
    return ANSWER
  })

  await run()

  expect(held).toEqual([expect.any(BigInt)])
  expect(held[0]).toBeGreaterThan(usd('0.00007'))
})

test('a failure of the upstream is returned as an error, and nothing is charged or held', async () => {
  const { run, balance } = await setUp(async () => ({ outcome: 'unreachable', reason: 'ECONNREFUSED' }))

  const result = await run()

  expect(result).toMatchObject({ kind: 'error', error: { code: 'upstream_error' } })
  expect(await balance()).toMatchObject({ available: usd('1'), held: { text: usd('0') } })
})

test('a refusal of the upstream is returned with its status', async () => {
  const body = JSON.stringify({ error: { message: 'No such field.' } })
  const { run, balance } = await setUp(async () => ({ ...ANSWER, status: 422, body }))

  const result = await run()

  expect(result).toMatchObject({ kind: 'refusal', status: 422 })
  expect(await balance()).toMatchObject({ available: usd('1'), held: { text: usd('0') } })
})

test('an unexpected error after the upstream was called frees the hold and must not be retried', async () => {
  const { run, balance } = await setUp(() => Promise.reject(new Error('a bug')))

  const error = await rejection(run())

  expect(error).toMatchObject({
    code: 'server_error',
    cause: { message: 'a bug' },
    extras: { shouldRetry: false },
  })
  expect(await balance()).toMatchObject({ available: usd('1'), held: { text: usd('0') } })
})

test('if the charge cannot be recorded, the answer is not returned and the hold is freed', async () => {
  const { run, store, balance } = await setUp(async () => {
    await store.close()
    return ANSWER
  })

  const error = await rejection(run())

  expect(error).toMatchObject({ code: 'unavailable' })
  expect(await balance()).toMatchObject({ available: usd('1'), held: { text: usd('0') } })
})

test.each<[string, ProviderOutcome, object]>([
  ['the charge was not recorded', ANSWER, { code: 'unavailable', extras: { shouldRetry: false } }],
  ['the upstream did not answer', { outcome: 'unreachable', reason: 'ECONNREFUSED' }, { kind: 'error' }],
])('if the hold cannot be freed either, the client still learns that %s', async (_, outcome, expected) => {
  const failures: unknown[] = []
  const { run } = await setUp(async () => outcome, {
    ledgerFrom: endingNone,
    onSettleFailed: error => void failures.push(error),
  })

  const told = await run().catch((error: unknown) => error)

  expect(told).toMatchObject(expected)
  expect(failures).toMatchObject([{ code: 'unavailable' }])
})

test('a charge ends the hold, so the request does not release it', async () => {
  const steps: string[] = []
  const { run } = await setUp(async () => ANSWER, { ledgerFrom: ledger => countedEnds(ledger, steps) })

  await run()

  expect(steps).toEqual(['capture'])
})

test('a hold that no charge has ended is released once', async () => {
  const steps: string[] = []
  const { run } = await setUp(async () => ({ outcome: 'unreachable', reason: 'ECONNREFUSED' }), {
    ledgerFrom: ledger => countedEnds(ledger, steps),
  })

  await run()

  expect(steps).toEqual(['release'])
})

test('a reply does not leave before its charge is durable', async () => {
  const commit = Promise.withResolvers<void>()
  const { run } = await setUp(async () => ANSWER, {
    ledgerFrom: ledger => ({
      ...ledger,
      captureHold: (hold, charge) => commit.promise.then(() => ledger.captureHold(hold, charge)),
    }),
  })

  const leaves = watch(run())
  const before = await leaves.soFar()
  commit.resolve()

  expect(before).toBeUndefined()
  expect(await leaves.reply).toMatchObject({ kind: 'answer' })
})

describe('a request that times out', () => {
  const timedOut = async (): Promise<ProviderOutcome> => ({ outcome: 'timed_out' })

  test('a request that times out does not get its 504 before its late mark is durable', async () => {
    const commit = Promise.withResolvers<void>()
    const { run } = await setUp(timedOut, {
      attemptsFrom: attempts => ({
        ...attempts,
        record: attempt => commit.promise.then(() => attempts.record(attempt)),
      }),
    })

    const leaves = watch(run())
    const before = await leaves.soFar()
    commit.resolve()

    expect(before).toBeUndefined()
    expect(await leaves.reply).toMatchObject({ kind: 'error', error: { code: 'upstream_timeout' } })
  })

  test('a request that times out gets another error if its late mark cannot be written', async () => {
    const { run, balance } = await setUp(timedOut, {
      attemptsFrom: attempts => ({ ...attempts, record: () => Promise.reject(new Error('disk full')) }),
    })

    const error = await rejection(run())

    expect(error).toMatchObject({ code: 'server_error', extras: { shouldRetry: false } })
    expect(await balance()).toMatchObject({ available: usd('1'), held: { text: usd('0') } })
  })

  test('a request that times out is unavailable if the commit of its late mark fails', async () => {
    const { run, balance, store } = await setUp(timedOut)
    store.transactions.join({
      beforeCommit: () => {
        throw new Error('disk full')
      },
    })

    const error = await rejection(run())

    expect(error).toMatchObject({ code: 'unavailable', extras: { shouldRetry: false } })
    expect(await balance()).toMatchObject({ available: usd('1'), held: { text: usd('0') } })
  })
})

/** The reply so far: undefined until the run has ended. */
function watch<Reply>(reply: Promise<Reply>) {
  let seen: Reply | undefined
  void reply.then(ended => (seen = ended))
  const soFar = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn()
    return seen
  }
  return { reply, soFar }
}
