import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore } from '../../../test/support/test-store.ts'
import { aCatalogOf, aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { usd } from '../../domain/money.ts'
import { HoldQueue } from '../hold-queue.ts'
import type { ProviderOutcome, TextProvider } from '../ports/text-provider.ts'
import { CircuitBreakers } from '../upstreams/circuit-breakers.ts'
import { LateAnswers } from '../upstreams/late-answers.ts'
import { runText } from './run-text.ts'

const main = aDestination('main')

const ANSWER: ProviderOutcome = {
  outcome: 'answered',
  status: 200,
  headers: { 'content-type': 'application/json' },
  rateLimits: [['x-ratelimit-limit', '9']],
  reportedCost: null,
  body: JSON.stringify({
    object: 'chat.completion',
    model: 'main-model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
}

/** Runs one request of an account with 1 USD, whose upstream is this function. */
async function setUp(complete: TextProvider['complete']) {
  const store = aSqliteStore()
  const clock = fakeClock()
  const catalog = { current: () => aCatalogOf([main]) }
  const payer = await anAccount(store, { funds: usd('1') })
  const { call, dialect, request } = anAdmittedRequest([main], payer)
  const { attempts, ledger } = store
  const onSettleFailed = (error: unknown) => {
    throw error
  }
  const provider: TextProvider = { complete, stream: () => Promise.reject(new Error('not called')) }
  const adapter = { text: provider, probe: () => Promise.reject(new Error('not called')) }
  const run = () =>
    runText(
      { call, dialect, request },
      {
        attempts,
        catalog: { ...store.catalog, ...catalog },
        circuitBreakers: new CircuitBreakers({ catalog, clock }),
        clock,
        holds: new HoldQueue({ ledger, clock }, { waitMs: 0, mode: 'hold' }),
        lateAnswers: new LateAnswers({ attempts, clock, onFailed: onSettleFailed }),
        moderator: undefined,
        onSettleFailed,
        providers: {
          'openai-compatible': adapter,
          'openai-images': adapter,
          kling: adapter,
          sandbox: adapter,
        },
        random: () => 0,
        secretOf: () => undefined,
        tokenizer: { countTokens: async () => 1 },
      },
      { readTimeoutMs: 300_000, streamIdleTimeoutMs: 60_000, isSandboxOn: true },
    )
  return { run, store, trace: call.trace, balance: () => ledger.balance(payer.accountId) }
}

test('an answer is charged before it is returned', async () => {
  const { run, balance, trace } = await setUp(async () => ANSWER)

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
  expect(trace).toMatchObject({ model: 'gpt-x', provider: 'main', upstreamStatus: 200, cost: usd('0.00007') })
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
