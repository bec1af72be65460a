import { describe, expect, test } from 'bun:test'
import { fixtureText } from '../../../test/support/simulators/media/fixtures.ts'
import { usd } from '../../domain/money.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { pathOf, readCreated, readTask } from './wire.ts'

/** For a row that does not say what a credit costs. */
const readUnpriced = (answer: MediaAnswer) => readTask(answer, {})

const fixture = (name: string) => fixtureText('runway', name)
const answered = (body: string, status = 200): MediaAnswer => ({
  status,
  contentType: 'application/json',
  body,
})

test('the path of a task never has another segment', () => {
  expect(pathOf('a/../b?c')).toBe('/v1/tasks/a%2F..%2Fb%3Fc')
})

describe('the answer to a create', () => {
  test('the answer to a create with an id is an accepted job', () => {
    expect(readCreated(answered(fixture('created')))).toEqual({
      outcome: 'accepted',
      upstreamId: '17f20503-6c24-4c16-946b-35dbbce2af2f',
    })
  })

  test.each([
    [400, 'validation-failed', 'invalid'],
    [400, 'not-enough-credits', 'operator'],
    [402, 'not-enough-credits', 'operator'],
    [401, 'unauthorized', 'operator'],
    [403, 'unauthorized', 'operator'],
    [429, 'rate-limited', 'rate_limited'],
    [404, 'not-found', 'invalid'],
    [408, 'not-found', 'invalid'],
    [409, 'not-found', 'invalid'],
    [307, 'created', 'operator'],
  ])('the answer to a create of status %d like %s is rejected as %s', (status, name, reason) => {
    expect(readCreated(answered(fixture(name), status))).toMatchObject({
      outcome: 'rejected',
      reason,
      status,
    })
  })

  test.each([
    ['{"error":"You do not have enough credits."}', 'operator'],
    ['{"error":"Your organization is out of credits."}', 'operator'],
    ['{"error":"No credits remaining."}', 'operator'],
    ['{"error":"Insufficient credits."}', 'operator'],
    ['{"error":"The credits at the end of the clip are not readable."}', 'invalid'],
  ])('%s is rejected as %s', (body, reason) => {
    expect(readCreated(answered(body, 400))).toMatchObject({ reason })
  })

  test('the answer to a create of a refusal names the fields, and keeps the time to wait', () => {
    expect(readCreated(answered(fixture('validation-failed'), 400))).toMatchObject({
      message: 'Validation of body failed: ratio: Invalid ratio for this model.',
    })
    expect(readCreated({ ...answered(fixture('rate-limited'), 429), retryAfterS: 9 })).toMatchObject({
      message: 'Too many requests.',
      retryAfterS: 9,
    })
  })

  test.each([
    [500, fixture('created')],
    [502, '<html>'],
    [503, fixture('overloaded')],
    [504, ''],
  ])('the answer to a create of status %d with %j is unknown, because the task may exist', (status, body) => {
    expect(readCreated(answered(body, status))).toEqual({ outcome: 'unknown', problem: `status ${status}` })
  })

  test.each([
    '',
    '<html>',
    '{"id":"17f',
    '[]',
    '{}',
    '{"id":""}',
    '{"id":7}',
    '{"id":".."}',
    '{"id":"\\ud800"}',
  ])('%j names no job', body => {
    expect(readCreated(answered(body))).toMatchObject({ outcome: 'rejected', reason: 'no_id', status: 200 })
  })
})

describe('the answer to a query', () => {
  test.each([
    ['pending', 'PENDING'],
    ['throttled', 'THROTTLED'],
    ['running', 'RUNNING'],
  ])('%s is running', (name, upstreamStatus) => {
    expect(readUnpriced(answered(fixture(name)))).toEqual({
      outcome: 'running',
      upstreamStatus,
      isKnownStatus: true,
    })
  })

  test.each(['DREAMING', 'succeeded', 'DELETED'])(
    'the answer to a query of status %s is running, and not known',
    status => {
      expect(readUnpriced(answered(JSON.stringify({ status })))).toEqual({
        outcome: 'running',
        upstreamStatus: status,
        isKnownStatus: false,
      })
    },
  )

  test('the answer to a query of a finished task has its links', () => {
    expect(readUnpriced(answered(fixture('succeeded')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [{ from: 'url', url: 'https://dnznrvs05pmza.cloudfront.net/17f20503.mp4?_jwt=eyJhbGciOi' }],
        isCounted: true,
      },
    })
  })

  test.each([[undefined], [null], [[]], [{}], [[null, 7, '']], ['https://a.example/1']])(
    'the answer to a query of a finished task with the output %j has none',
    output => {
      expect(readUnpriced(answered(JSON.stringify({ status: 'SUCCEEDED', output })))).toMatchObject({
        result: { outputs: [] },
      })
    },
  )

  test('the answer to a query of a failed task has its message and its code', () => {
    expect(readUnpriced(answered(fixture('failed')))).toEqual({
      outcome: 'failed',
      code: 'SAFETY.INPUT.TEXT',
      message: 'The text prompt did not pass our content moderation.',
    })
  })

  test("the answer to a query of a task that failed for the operator's credits does not show it", () => {
    const task = { status: 'FAILED', failure: 'Your organization is out of credits.', failureCode: 'CREDITS' }

    expect(readUnpriced(answered(JSON.stringify(task)))).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test('the answer to a query of a failed task without a reason has a default message', () => {
    expect(readUnpriced(answered('{"status":"FAILED"}'))).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test.each([
    ['succeeded', 50, '0.5'],
    ['failed', 25, '0.25'],
    ['failed', 0, '0'],
    ['cancelled', 5, '0.05'],
  ])(
    'the answer to a query of a task that %s and cost %d credits has the cost of the operator',
    (name, credits, cost) => {
      const task = { ...(JSON.parse(fixture(name)) as object), cost: { credits } }

      const outcome = readTask(answered(JSON.stringify(task)), { creditUsd: usd('0.01') })

      const billed = outcome.outcome === 'finished' ? outcome.result : outcome
      expect(billed).toMatchObject({ providerCost: usd(cost) })
    },
  )

  test('the answer to a query of a cancelled task is a failure', () => {
    expect(readUnpriced(answered(fixture('cancelled')))).toMatchObject({
      outcome: 'failed',
      code: 'CANCELLED',
    })
  })

  test.each([
    [401, fixture('unauthorized')],
    [404, fixture('not-found')],
    [429, fixture('rate-limited')],
    [503, fixture('succeeded')],
    [200, '<html>'],
    [200, ''],
    [200, '{}'],
    [200, '{"status":""}'],
    [307, fixture('succeeded')],
  ])('the answer to a query of HTTP status %d with %j is unavailable', (status, body) => {
    expect(readUnpriced(answered(body, status))).toEqual({
      outcome: 'unavailable',
      problem: `status ${status}`,
    })
  })
})
