import { describe, expect, test } from 'bun:test'
import { scriptedUpstreams } from '../../../test/support/scripted-upstreams.ts'
import { turn } from '../../../test/support/turn.ts'
import { aFailure, aRefusal, anAdmittedRequest, anAnswer } from '../../../test/support/upstream-rows.ts'
import { usd } from '../../domain/money.ts'
import { parseExactUsd } from '../../domain/pricing/exact-usd.ts'
import { NO_USAGE } from '../../domain/pricing/usage.ts'
import type { Attempt } from '../ports/ledger/attempts.ts'
import type { Destination } from '../upstreams/destinations.ts'
import { callUpstreams } from './call-upstreams.ts'

/** Upstreams as in `scriptedUpstreams`, how a request calls them, and the attempts that are recorded. */
function setUp(results: Parameters<typeof scriptedUpstreams>[0]) {
  const { ports, call, clock, destinations } = scriptedUpstreams(results)
  const recorded: Attempt[] = []
  const attempts = { record: async (attempt: Attempt) => void recorded.push(attempt) }
  const onSettleFailed = (error: unknown) => {
    throw error
  }
  const tokenizer = { countTokens: () => Promise.resolve(7) }
  const run = async () => {
    const admitted = anAdmittedRequest(destinations)
    const attempt = await callUpstreams(
      admitted,
      call,
      { ...ports, attempts, tokenizer, onSettleFailed },
      { readTimeoutMs: 300_000 },
    )
    return { ...attempt, record: admitted.call.record, admitted }
  }
  return { run, clock, recorded, destinations }
}

describe('an answer that the client does not get', () => {
  test('an answer that the client does not get is recorded with its usage under its request', async () => {
    const empty = anAnswer({ isEmpty: true })
    const { run, clock, recorded } = setUp({ a: [aFailure()], b: [empty], c: [anAnswer()] })

    const { admitted } = await run()

    expect(recorded).toEqual([
      {
        requestId: admitted.call.id,
        number: 2,
        accountId: 1,
        apiKeyId: 1,
        route: 'chat',
        model: 'gpt-x',
        provider: 'b',
        tariff: { input: usd('2'), output: usd('10') },
        state: 'abandoned',
        usage: empty.answer.usage!,
        providerCost: null,
        atMs: clock.now(),
      },
    ])
  })

  test('an answer that the client does not get is recorded with the cost that its provider reports, also without a usage', async () => {
    const empty = anAnswer({ isEmpty: true })
    const answer = { ...empty.answer, usage: null, reportedCost: parseExactUsd('0.0000000001')! }
    const { run, recorded } = setUp({ a: [{ ...empty, answer }], b: [anAnswer()] })

    await run()

    expect(recorded).toMatchObject([{ usage: null, providerCost: usd('0.000000001') }])
  })

  test('an answer that the client does not get is not recorded if it used nothing', async () => {
    const empty = anAnswer({ isEmpty: true })
    const answer = { ...empty.answer, usage: NO_USAGE }
    const { run, recorded } = setUp({ a: [{ ...empty, answer }], b: [anAnswer()] })

    await run()

    expect(recorded).toEqual([])
  })
})

describe('a request that its upstream refuses and bills', () => {
  const filtered = (body: string, status = 400) => {
    const { outcome } = aRefusal()
    return { kind: 'refusal', status, outcome: { ...outcome, status, body } } as const
  }
  const FILTERED = '{"error":{"code":"content_filter"}}'

  test.each([
    ['by its code', FILTERED],
    ['by its inner code', '{"error":{"code":"400","innererror":{"code":"ResponsibleAIPolicyViolation"}}}'],
  ])('a refusal that is billed is recorded with an estimate of its input: %s', async (_, body) => {
    const { run, recorded, destinations } = setUp({ a: [filtered(body)] })
    billRefusals(destinations)

    const { record } = await run()
    await turn()

    expect(record.isRefusalBilled).toBe(true)
    expect(recorded).toMatchObject([
      { state: 'abandoned', usage: { ...NO_USAGE, input: 7 }, providerCost: null },
    ])
  })

  test('a refusal that is billed is recorded if the client gets another result', async () => {
    const { run, recorded, destinations } = setUp({
      a: [anAnswer({ isEmpty: true })],
      b: [filtered(FILTERED)],
    })
    billRefusals(destinations)

    const { result } = await run()
    await turn()

    expect(result.kind).toBe('answer')
    expect(recorded).toMatchObject([{ provider: 'b', usage: { ...NO_USAGE, input: 7 } }])
  })

  test.each([
    ['with another code', '{"error":{"code":"invalid_prompt"}}', 400],
    ['with another status', FILTERED, 422],
    ['with a body that is not JSON', 'content_filter', 400],
    ['with a text as its error', '{"error":"content_filter"}', 400],
  ])('a refusal %s is not one that is billed', async (_, body, status) => {
    const { run, recorded, destinations } = setUp({ a: [filtered(body, status)] })
    billRefusals(destinations)

    const { record } = await run()
    await turn()

    expect([record.isRefusalBilled, recorded]).toEqual([undefined, []])
  })
})

/** Gives each provider a row that says that it bills what its content filter refuses. */
function billRefusals(destinations: readonly Destination[]): void {
  for (const { provider } of destinations) Object.assign(provider, { billsRefused: 'content_filter' })
}

test('a stream given up for its first byte is recorded with unknown usage, even if no other upstream answers', async () => {
  const { run, recorded } = setUp({ a: [aFailure('first_byte_timeout')], b: [aFailure('unpaid')] })

  const { result } = await run()

  expect(result).toMatchObject({ kind: 'failure', reason: 'first_byte_timeout' })
  expect(recorded).toMatchObject([{ number: 1, provider: 'a', state: 'abandoned', usage: null }])
})

test('an empty answer that the client gets is not recorded as abandoned', async () => {
  const { run, recorded } = setUp({ a: [anAnswer({ isEmpty: true })], b: [aFailure()] })

  await run()

  expect(recorded).toEqual([])
})

test('a call that timed out is cancelled if the client gets an empty answer instead', async () => {
  let isAbandoned = false
  const late = { outcome: new Promise<never>(() => undefined), abandon: () => (isAbandoned = true) }
  const { run } = setUp({ a: [anAnswer({ isEmpty: true })], b: [{ kind: 'timeout', late }] })

  const { result, record } = await run()

  expect(result.kind).toBe('answer')
  expect(isAbandoned).toBe(true)
  expect(record).toMatchObject({
    provider: 'a',
    failedOverFrom: ['b: timeout'],
    upstreamFailures: [{ provider: 'b', reason: 'timeout' }],
  })
})
