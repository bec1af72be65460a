import { describe, expect, test } from 'bun:test'
import { until } from '../../../test/support/until.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { anAccount } from '../../../test/support/ledger-builders.ts'
import { rejection } from '../../../test/support/rejection.ts'
import { aSqliteStore, sqlite } from '../../../test/support/test-store.ts'
import { aDestination, anAdmittedRequest } from '../../../test/support/upstream-rows.ts'
import { usd } from '../../domain/money.ts'
import { chatDialect } from '../../protocol/chat/dialect.ts'
import { nativeMessagesDialect } from '../../protocol/native-messages/dialect.ts'
import type { Attempts } from '../ports/ledger/attempts.ts'
import type { ProviderOutcome } from '../ports/providers/text-provider.ts'
import type { AttemptRecord } from '../upstreams/attempt-result.ts'
import { LATE_BYTES_MAX, LATE_CALLS_MAX, LateAnswers } from './late-answers.ts'

const main = aDestination('main')
const attempt: AttemptRecord<unknown> = { destination: main, number: 1, result: undefined }

/** A late call whose end the test decides. */
function aLateCall() {
  const { promise, resolve } = Promise.withResolvers<ProviderOutcome>()
  const end = (outcome: ProviderOutcome) => resolve(outcome)
  const call = { outcome: promise, abandon: () => end({ outcome: 'aborted' }) }
  return { call, end }
}

function answered(body: string, status = 200): ProviderOutcome {
  return { outcome: 'answered', status, reportedCost: null, body }
}

const ANSWER = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Late.' }, finish_reason: 'stop' }],
}
const WITH_USAGE = { ...ANSWER, usage: { prompt_tokens: 10, completion_tokens: 5 } }

async function setUp(store = aSqliteStore()) {
  const payer = await anAccount(store)
  const clock = fakeClock()
  const failures: unknown[] = []
  const billed: object[] = []
  const lateAnswers = new LateAnswers({
    attempts: store.attempts,
    clock,
    onBilled: answer => billed.push(answer),
    onFailed: error => failures.push(error),
  })
  return { store, payer, clock, lateAnswers, billed, failures, admitted: anAdmittedRequest([main], payer) }
}

/** Resolves when no late call runs. Then the end of each is recorded. */
function settled(lateAnswers: LateAnswers): Promise<void> {
  return until('no late call runs', () => lateAnswers.running === 0)
}

/** Closes all attempts that are recorded as timed out, and returns their number. */
function timedOut(attempts: Attempts): Promise<number> {
  return attempts.closeOlder({ atMs: Number.MAX_SAFE_INTEGER, limit: 10_000 })
}

describe('an attempt that timed out', () => {
  test('an attempt that timed out is recorded on disk before its client gets a reply', async () => {
    const { store, reopen } = await sqlite.open()
    const { accountId, apiKeyId } = await anAccount(store)
    const lateAnswers = new LateAnswers({
      attempts: store.attempts,
      clock: fakeClock(),
      onBilled: () => {},
      onFailed: () => {},
    })

    const admitted = anAdmittedRequest([main], { accountId, apiKeyId })
    await lateAnswers.expect(admitted, attempt, aLateCall().call)

    expect(await timedOut((await reopen()).attempts)).toBe(1)
  })

  test('an attempt that timed out and finishes later gets its usage, at the prices of its admission', async () => {
    const { store, payer, lateAnswers, billed: reported, admitted } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(admitted, attempt, late.call)

    late.end(answered(JSON.stringify(WITH_USAGE)))
    await settled(lateAnswers)

    const [billed] = await store.attempts.billed(10)
    expect(billed).toEqual({ requestId: admitted.call.id, number: 1 })
    expect(reported).toEqual([{ model: 'gpt-x', provider: 'main', providerCost: null }])
    await store.ledger.compensate(billed!, 7)
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

  test('an attempt that timed out and reports its own cost later has it in its charge, regardless of the row’s price', async () => {
    const { store, payer, lateAnswers, admitted } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(admitted, attempt, late.call)

    late.end(answered(JSON.stringify({ ...ANSWER, usage: { ...WITH_USAGE.usage, cost: 0.000_000_000_1 } })))
    await settled(lateAnswers)

    await store.ledger.compensate((await store.attempts.billed(1))[0]!, 7)
    expect(await store.ledger.usage(payer.accountId, { limit: 1 })).toMatchObject([
      { cost: usd('0.00007'), providerCost: usd('0.000000001') },
    ])
  })

  test('an attempt that timed out gets the usage of an answer in the format of the route that its request was converted to', async () => {
    const { store, payer, lateAnswers } = await setUp()
    const late = aLateCall()
    const chat = anAdmittedRequest([main], payer)
    const converted = { dialect: chatDialect, request: chat.request }
    const native = { ...chat, dialect: nativeMessagesDialect }
    await lateAnswers.expect(native, { ...attempt, destination: { ...main, converted } }, late.call)

    late.end(answered(JSON.stringify(WITH_USAGE)))
    await settled(lateAnswers)

    const [billed] = await store.attempts.billed(10)
    expect(await store.ledger.compensate(billed!, 7)).toMatchObject({ cost: usd('0.00007') })
  })

  test('an attempt that timed out keeps its number among the attempts of its request', async () => {
    const { store, lateAnswers, admitted } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(admitted, { ...attempt, number: 2 }, late.call)

    late.end(answered(JSON.stringify(WITH_USAGE)))
    await settled(lateAnswers)

    expect(await store.attempts.billed(10)).toMatchObject([{ number: 2 }])
  })

  test.each<[string, ProviderOutcome]>([
    ['an answer without a usage', answered(JSON.stringify(ANSWER))],
    ['a usage in a body that is not an answer', answered('{"usage":{"prompt_tokens":10}}')],
    ['HTML', answered('<html></html>')],
    ['an error', answered('{"error":{}}', 500)],
    ['a refusal', answered('{"error":{}}', 400)],
    ['a broken connection', { outcome: 'unreachable', reason: 'ECONNRESET' }],
    ['a second timeout', { outcome: 'timed_out' }],
  ])('an attempt that timed out and ends with %s is closed and never charged', async (_, outcome) => {
    const { store, lateAnswers, admitted, failures } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(admitted, attempt, late.call)

    late.end(outcome)
    await settled(lateAnswers)

    expect(await store.attempts.billed(10)).toEqual([])
    expect(await timedOut(store.attempts)).toBe(0)
    expect(failures).toEqual([])
  })

  test('an attempt that timed out is recorded also if its call has already ended', async () => {
    const { store, lateAnswers, admitted } = await setUp()

    await lateAnswers.expect(admitted, attempt, undefined)

    expect(await timedOut(store.attempts)).toBe(1)
    expect(lateAnswers.running).toBe(0)
  })

  test('an attempt that timed out and cannot be recorded is cancelled, and its request fails', async () => {
    const { store, lateAnswers, admitted } = await setUp()
    const late = aLateCall()
    await store.close()

    const error = await rejection(lateAnswers.expect(admitted, attempt, late.call))

    expect(error).toMatchObject({ code: 'unavailable' })
    expect(await late.call.outcome).toEqual({ outcome: 'aborted' })
  })

  test('an attempt that timed out and whose end cannot be recorded is reported', async () => {
    const { store, lateAnswers, admitted, failures } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(admitted, attempt, late.call)
    await store.close()

    late.end(answered(JSON.stringify(WITH_USAGE)))
    await settled(lateAnswers)

    expect(failures).toMatchObject([{ code: 'unavailable' }])
  })
})

describe('late calls', () => {
  test('late calls are limited in number: one more is cancelled and closed', async () => {
    const { store, payer, lateAnswers } = await setUp()
    const expectOne = async () => {
      const late = aLateCall()
      await lateAnswers.expect(anAdmittedRequest([main], payer), attempt, late.call)
      return late.call
    }
    await Promise.all(Array.from({ length: LATE_CALLS_MAX }, expectOne))

    const beyond = await expectOne()

    expect(await beyond.outcome).toEqual({ outcome: 'aborted' })
    expect(await timedOut(store.attempts)).toBeGreaterThanOrEqual(LATE_CALLS_MAX)
    expect(lateAnswers.running).toBeGreaterThanOrEqual(LATE_CALLS_MAX)
  })

  test('late calls are limited in the bytes of their requests', async () => {
    const { payer, lateAnswers } = await setUp()
    const { call, ...admitted } = anAdmittedRequest([main], payer)
    const large = { ...admitted, call: { ...call, body: { text: '', byteLength: LATE_BYTES_MAX } } }
    const [first, second] = [aLateCall(), aLateCall()]
    await lateAnswers.expect(large, attempt, first.call)

    await lateAnswers.expect(anAdmittedRequest([main], payer), attempt, second.call)

    expect(await second.call.outcome).toEqual({ outcome: 'aborted' })
  })

  test('late calls are cancelled by a stop, and their records stay as they are', async () => {
    const { store, lateAnswers, admitted } = await setUp()
    const late = aLateCall()
    await lateAnswers.expect(admitted, attempt, late.call)

    lateAnswers.abandon()
    await settled(lateAnswers)

    expect(await late.call.outcome).toEqual({ outcome: 'aborted' })
    expect(await timedOut(store.attempts)).toBe(1)
  })
})
