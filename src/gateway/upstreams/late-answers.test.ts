import { describe, expect, test } from 'bun:test'
import { until } from '../../../test/scenarios/until.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore, sqlite } from '../../../test/support/test-store.ts'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { usd } from '../../domain/money.ts'
import { LATE_BYTES_MAX, LATE_CALLS_MAX, LateAnswers } from './late-answers.ts'
import type { Attempts } from '../ports/attempts.ts'
import type { ProviderOutcome } from '../ports/text-provider.ts'

/** A late call that ends as the test says. */
function aLateCall() {
  const { promise, resolve } = Promise.withResolvers<ProviderOutcome>()
  const end = (outcome: ProviderOutcome) => resolve(outcome)
  const call = { outcome: promise, abandon: () => end({ outcome: 'aborted' }) }
  return { call, end }
}

function answered(body: string, status = 200): ProviderOutcome {
  return { outcome: 'answered', status, headers: {}, reportedCost: null, body }
}

const ANSWER = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Late.' }, finish_reason: 'stop' }],
}
const USED = { ...ANSWER, usage: { prompt_tokens: 10, completion_tokens: 5 } }

async function setUp(store = aSqliteStore()) {
  const payer = await anAccount(store)
  const clock = fakeClock()
  const failures: unknown[] = []
  const lateAnswers = new LateAnswers({
    attempts: store.attempts,
    clock,
    onFailed: error => failures.push(error),
  })
  const job = anAdmittedRequest([aDestination('main')], payer)
  job.call.trace.provider = 'main'
  return { store, payer, clock, lateAnswers, failures, job }
}

/** Resolves when no late call is waited for: whatever became of them is written. */
function settled(lateAnswers: LateAnswers): Promise<void> {
  return until('no late call is waited for', () => lateAnswers.running === 0)
}

/** How many are marked as timed out, and nothing else. Closes them. */
function timedOut(attempts: Attempts): Promise<number> {
  return attempts.closeOlder({ atMs: Number.MAX_SAFE_INTEGER, limit: 10_000 })
}

describe('an attempt that timed out', () => {
  test('is marked on disk before its client is told', async () => {
    const { store, reopen } = await sqlite.open()
    const { accountId, apiKeyId } = await anAccount(store)
    const lateAnswers = new LateAnswers({ attempts: store.attempts, clock: fakeClock(), onFailed: () => {} })

    await lateAnswers.expect(
      anAdmittedRequest([aDestination('main')], { accountId, apiKeyId }),
      aLateCall().call,
    )

    expect(await timedOut((await reopen()).attempts)).toBe(1)
  })

  test('that finishes after all keeps what it used, at the prices it was admitted with', async () => {
    const { store, payer, lateAnswers, job } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(job, late.call)

    late.end(answered(JSON.stringify(USED)))
    await settled(lateAnswers)

    const [attempt] = await store.attempts.billed(10)
    expect(attempt).toEqual({ requestId: job.call.id, number: 1 })
    await store.ledger.compensate(attempt!, 7)
    expect(await store.ledger.usage(payer.accountId, { limit: 1 })).toMatchObject([
      {
        cost: usd('0.00007'),
        usage: { input: 10, output: 5 },
        provider: 'main',
        model: 'gpt-x',
        route: 'chat',
      },
    ])
    expect(await store.ledger.verify()).toMatchObject({ problems: [] })
  })

  test('is numbered after those that its request was switched from', async () => {
    const { store, lateAnswers, job } = await setUp()
    job.call.trace.switchedFrom = ['other: status 500']
    const late = aLateCall()
    await lateAnswers.expect(job, late.call)

    late.end(answered(JSON.stringify(USED)))
    await settled(lateAnswers)

    expect(await store.attempts.billed(10)).toMatchObject([{ number: 2 }])
  })

  test.each<[string, ProviderOutcome]>([
    ['an answer without a usage', answered(JSON.stringify(ANSWER))],
    ['a usage in an answer that is none', answered('{"usage":{"prompt_tokens":10}}')],
    ['HTML', answered('<html></html>')],
    ['an error', answered('{"error":{}}', 500)],
    ['a refusal', answered('{"error":{}}', 400)],
    ['a broken connection', { outcome: 'unreachable', reason: 'ECONNRESET' }],
    ['nothing, for as long as it may go on', { outcome: 'timed_out' }],
  ])('that ends with %s is closed, and nothing is ever charged', async (_, outcome) => {
    const { store, lateAnswers, job, failures } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(job, late.call)

    late.end(outcome)
    await settled(lateAnswers)

    expect(await store.attempts.billed(10)).toEqual([])
    expect(await timedOut(store.attempts)).toBe(0)
    expect(failures).toEqual([])
  })

  test('whose provider ends its call at once is marked all the same', async () => {
    const { store, lateAnswers, job } = await setUp()

    await lateAnswers.expect(job, undefined)

    expect(await timedOut(store.attempts)).toBe(1)
    expect(lateAnswers.running).toBe(0)
  })

  test('that cannot be marked is ended, and its request fails', async () => {
    const { store, lateAnswers, job } = await setUp()
    const late = aLateCall()
    await store.close()

    const error = await rejection(lateAnswers.expect(job, late.call))

    expect(error).toMatchObject({ code: 'unavailable' })
    expect(await late.call.outcome).toEqual({ outcome: 'aborted' })
  })

  test('whose end cannot be written is told of', async () => {
    const { store, lateAnswers, job, failures } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(job, late.call)
    await store.close()

    late.end(answered(JSON.stringify(USED)))
    await settled(lateAnswers)

    expect(failures).toMatchObject([{ code: 'unavailable' }])
  })
})

describe('late calls', () => {
  test('are no more than so many at once: one more is ended and closed', async () => {
    const { store, payer, lateAnswers } = await setUp()
    const expectOne = () => {
      const late = aLateCall()
      return lateAnswers
        .expect(anAdmittedRequest([aDestination('main')], payer), late.call)
        .then(() => late.call)
    }
    await Promise.all(Array.from({ length: LATE_CALLS_MAX }, expectOne))

    const beyond = await expectOne()

    expect(await beyond.outcome).toEqual({ outcome: 'aborted' })
    expect(await timedOut(store.attempts)).toBeGreaterThanOrEqual(LATE_CALLS_MAX)
    expect(lateAnswers.running).toBeGreaterThanOrEqual(LATE_CALLS_MAX)
  })

  test('keep no more than so many bytes of requests', async () => {
    const { payer, lateAnswers } = await setUp()
    const { call, ...job } = anAdmittedRequest([aDestination('main')], payer)
    const large = { ...job, call: { ...call, body: { text: '', byteLength: LATE_BYTES_MAX } } }
    const [first, second] = [aLateCall(), aLateCall()]
    await lateAnswers.expect(large, first.call)

    await lateAnswers.expect(anAdmittedRequest([aDestination('main')], payer), second.call)

    expect(await second.call.outcome).toEqual({ outcome: 'aborted' })
  })

  test('are given up by a stop: their marks stay as they are', async () => {
    const { store, lateAnswers, job } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(job, late.call)

    lateAnswers.abandon()
    await settled(lateAnswers)

    expect(await late.call.outcome).toEqual({ outcome: 'aborted' })
    expect(await timedOut(store.attempts)).toBe(1)
  })
})
