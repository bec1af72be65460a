import { describe, expect, test } from 'bun:test'
import { fixturesOf } from '../../../test/support/fixture.ts'
import type { WholeAnswer } from '../media/send-whole.ts'
import { readSubmitted, readTask } from './wire.ts'

const fixture = fixturesOf(import.meta)

function answered(body: string, status = 200): WholeAnswer {
  return { status, body }
}

describe('the answer to a submit', () => {
  test('with an id is an accepted job', () => {
    expect(readSubmitted(answered(fixture('created')))).toEqual({
      outcome: 'accepted',
      upstreamId: 'cgt-20250331175019-68d9t',
    })
  })

  test.each([
    [400, 'invalid-parameter', 'invalid', 'InvalidParameter'],
    [400, 'sensitive', 'invalid', 'InputTextSensitiveContentDetected'],
    [401, 'authentication', 'operator', 'AuthenticationError'],
    [403, 'overdue', 'operator', 'AccountOverdueError'],
    [404, 'not-open', 'operator', 'ModelNotOpen'],
    [429, 'rate-limited', 'rate_limited', 'RateLimitExceeded.EndpointRPMExceeded'],
    // A 4xx is a rejection, even with a code for a server error.
    [400, 'server-error', 'invalid', 'InternalServiceError'],
  ])('of status %d like %s is rejected as %s', (status, name, reason, code) => {
    expect(readSubmitted(answered(fixture(name), status))).toMatchObject({
      outcome: 'rejected',
      reason,
      status,
      code,
    })
  })

  test.each([
    ['SetLimitExceeded', 429],
    ['QuotaExceeded', 429],
    ['AccessDenied.Model', 400],
    ['InvalidEndpointOrModel.NotFound', 404],
    ['OperationDenied.ServiceNotOpen', 400],
  ])("with the code %s is the operator's trouble", (code, status) => {
    const body = JSON.stringify({ error: { code, message: 'No.' } })

    expect(readSubmitted(answered(body, status))).toMatchObject({
      outcome: 'rejected',
      reason: 'operator',
      code,
    })
  })

  test.each([
    [401, 'operator'],
    [402, 'operator'],
    [403, 'operator'],
    [302, 'operator'],
    [429, 'rate_limited'],
    [408, 'invalid'],
    [409, 'invalid'],
  ])('of status %d without an error in it is rejected as %s', (status, reason) => {
    const outcome = readSubmitted({ ...answered('<html>', status), retryAfterS: 9 })

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status, retryAfterS: 9 })
    expect(outcome).not.toHaveProperty('code')
  })

  test.each([
    [500, fixture('created')],
    [502, '<html>'],
    [504, ''],
    [500, fixture('server-error')],
  ])('of status %d with %j is unknown', (status, body) => {
    expect(readSubmitted(answered(body, status))).toMatchObject({ outcome: 'unknown' })
  })

  test.each([
    '',
    '<html>',
    '{"id":"cgt',
    '[]',
    '{}',
    '{"id":""}',
    '{"id":7}',
    '{"id":".."}',
    '{"id":"\\ud800"}',
  ])('%j names no job', body => {
    expect(readSubmitted(answered(body))).toMatchObject({ outcome: 'rejected', reason: 'no_id', status: 200 })
  })
})

describe('the answer to a poll', () => {
  test('of a finished job has the link and the duration', () => {
    expect(readTask(answered(fixture('succeeded')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [
          { from: 'url', url: 'https://ark-content.example.net/seedance/0217.mp4?X-Tos-Expires=86400' },
        ],
        durationMs: 5000,
        isCounted: true,
      },
    })
  })

  test.each([
    [{ duration: 5.04 }, 5040],
    [{ duration: '7' }, 7000],
    [{ frames: 57, framespersecond: 24 }, 2375],
    [{ duration: -1, frames: 48, framespersecond: 24 }, 2000],
    [{ frames: 57 }, undefined],
    [{ frames: 57, framespersecond: 0 }, undefined],
    [{ duration: 'five' }, undefined],
    [{}, undefined],
  ])('with %j has %j milliseconds', (length, durationMs) => {
    const outcome = readTask(answered(JSON.stringify({ status: 'succeeded', ...length })))

    expect(outcome.outcome === 'finished' && outcome.result.durationMs).toBe(durationMs as number)
  })

  test('of a failed job has the code and the message', () => {
    expect(readTask(answered(fixture('failed')))).toEqual({
      outcome: 'failed',
      code: 'OutputVideoSensitiveContentDetected',
      message: 'The request failed because the output video may contain sensitive information.',
    })
  })

  test.each([
    [fixture('expired')],
    ['{"status":"cancelled"}'],
    ['{"status":"failed","error":null}'],
    ['{"status":"failed","error":{"code":"AccountOverdueError","message":"Please recharge."}}'],
  ])('of a job that ended without a reason for the client has a default message: %s', body => {
    expect(readTask(answered(body))).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test.each([
    ['queued', true],
    ['running', true],
    ['paused', false],
  ])('with the status %s is running, and known: %j', (status, isKnownStatus) => {
    expect(readTask(answered(JSON.stringify({ status })))).toEqual({
      outcome: 'running',
      upstreamStatus: status,
      isKnownStatus,
    })
  })

  test('of a success without a link has no outputs', () => {
    for (const content of [undefined, null, {}, { video_url: '' }, { video_url: 7 }])
      expect(readTask(answered(JSON.stringify({ status: 'succeeded', content })))).toMatchObject({
        outcome: 'finished',
        result: { outputs: [] },
      })
  })

  test.each([
    [401, fixture('authentication')],
    [403, fixture('overdue')],
    // Tasks are forgotten after seven days.
    [404, fixture('not-found')],
    [429, fixture('rate-limited')],
    [500, fixture('succeeded')],
    [302, fixture('succeeded')],
    [200, '<html>'],
    [200, '{}'],
    [200, '{"status":""}'],
  ])('of status %d with %j is unavailable', (status, body) => {
    expect(readTask(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })
})
