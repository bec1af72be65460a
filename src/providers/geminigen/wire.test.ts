import { describe, expect, test } from 'bun:test'
import { fixturesOf } from '../../../test/support/fixture.ts'
import { usd } from '../../domain/money.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { readHistory, readSubmitted } from './wire.ts'

const fixture = fixturesOf(import.meta)
const UUID = 'c558a44c-c91c-11f0-98b4-0242ac120004'

function answered(body: string, status = 200): MediaAnswer {
  return { status, body }
}

describe('the answer to a submission', () => {
  test.each([
    [fixture('created')],
    // Finished already: the first poll has the result.
    [fixture('completed-video')],
    [`{"result":{"uuid":"${UUID}","status":1}}`],
    [`{"result":{"result":{"uuid":"${UUID}","status":1}}}`],
    [`{"status":"success","result":{"uuid":"${UUID}","status":1}}`],
    [`{"uuid":"outer","status":200,"result":{"status":1,"result":{"uuid":"${UUID}","status":1}}}`],
    [`{"uuid":"${UUID}","status":1,"result":{"uuid":""}}`],
  ])('the answer to a submission with an id is an accepted job: %s', body => {
    expect(readSubmitted(answered(body))).toEqual({ outcome: 'accepted', upstreamId: UUID })
  })

  test.each([
    [401, 'key-not-found', 'operator', 'API_KEY_NOT_FOUND'],
    [400, 'key-not-found', 'operator', 'API_KEY_NOT_FOUND'],
    [400, 'not-enough-credit', 'operator', 'NOT_ENOUGH_CREDIT'],
    [200, 'not-enough-credit', 'operator', 'NOT_ENOUGH_CREDIT'],
    [400, 'invalid-model', 'operator', 'INVALID_MODEL'],
    [429, 'rate-limited', 'rate_limited', 'RATE_LIMIT_ERROR'],
    [400, 'rate-limited', 'rate_limited', 'RATE_LIMIT_ERROR'],
    [400, 'too-many-images', 'invalid', 'TOO_MANY_IMAGES'],
  ])('the answer to a submission of status %d like %s is rejected as %s', (status, name, reason, code) => {
    expect(readSubmitted(answered(fixture(name), status))).toMatchObject({
      outcome: 'rejected',
      reason,
      status,
      code,
    })
  })

  test("the answer to a submission is the operator's trouble also where credit is locked", () => {
    const body = '{"detail":{"error_code":"NOT_ENOUGH_AND_LOCK_CREDIT","message":"Buy more."}}'

    expect(readSubmitted(answered(body, 400))).toMatchObject({ reason: 'operator' })
  })

  test.each(['ACCREDITED_PERSON', 'CREDIT_CARD_IN_PROMPT'])(
    'the answer to a submission with the code %s is about the request',
    code => {
      const body = JSON.stringify({ detail: { error_code: code, message: 'No.' } })

      expect(readSubmitted(answered(body, 400))).toMatchObject({ reason: 'invalid', code })
    },
  )

  test('the answer to a submission that lists what is wrong with a form has the list as its message', () => {
    expect(readSubmitted(answered(fixture('validation'), 422))).toEqual({
      outcome: 'rejected',
      reason: 'invalid',
      status: 422,
      message: 'prompt: Field required',
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
  ])('the answer to a submission of status %d with a page is rejected as %s', (status, reason) => {
    const outcome = readSubmitted({ ...answered('<html>', status), retryAfterS: 9 })

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status, retryAfterS: 9 })
    expect(outcome).not.toHaveProperty('code')
  })

  test.each([
    [500, fixture('created')],
    [502, '<html>'],
    [504, ''],
  ])('the answer to a submission of status %d with %j is unknown', (status, body) => {
    expect(readSubmitted(answered(body, status))).toMatchObject({ outcome: 'unknown' })
  })

  test.each([
    '',
    '<html>',
    '{"uuid":"c558',
    '[]',
    '{}',
    '{"status":1}',
    '{"uuid":""}',
    '{"uuid":7}',
    '{"uuid":".."}',
    '{"result":null}',
  ])('%j names no job', body => {
    expect(readSubmitted(answered(body))).toMatchObject({ outcome: 'rejected', reason: 'no_id', status: 200 })
  })
})

describe('the answer to a poll', () => {
  test.each([
    [2, 'finished'],
    [3, 'failed'],
  ])('the answer to a poll of a job of status %d has the credits that it cost', (status, end) => {
    const body = JSON.stringify({ uuid: '7', status, used_credit: 20 })

    const outcome = readHistory(answered(body), { kind: 'video', provider: { creditUsd: usd('0.002') } })

    expect(outcome.outcome).toBe(end as never)
    const billed = outcome.outcome === 'finished' ? outcome.result : outcome
    expect(billed).toMatchObject({ providerCost: usd('0.04') })
  })

  test('the answer to a poll of a finished clip has its link', () => {
    expect(readHistory(answered(fixture('completed-video')), { kind: 'video', provider: {} })).toEqual({
      outcome: 'finished',
      result: { outputs: [{ from: 'url', url: 'https://cdn.example.net/v/2588-0.mp4' }], isCounted: true },
    })
  })

  test('the answer to a poll of finished images has a link of each, under one of two names', () => {
    expect(readHistory(answered(fixture('completed-image')), { kind: 'image', provider: {} })).toEqual({
      outcome: 'finished',
      result: {
        outputs: [
          { from: 'url', url: 'https://cdn.example.net/i/2589-0.png' },
          { from: 'url', url: 'https://cdn.example.net/d/2589-1' },
        ],
        isCounted: true,
      },
    })
  })

  test('the answer to a poll of a job with one result may have its link in another place', () => {
    const body = '{"status":2,"generate_result":"https://cdn.example.net/a","generated_video":[]}'

    expect(readHistory(answered(body), { kind: 'video', provider: {} })).toMatchObject({
      result: { outputs: [{ from: 'url', url: 'https://cdn.example.net/a' }] },
    })
  })

  test.each([
    '{"status":200,"result":{"uuid":"u1","status":2,"generate_result":"https://cdn.example.net/a"}}',
    '{"status":"success","result":{"status":200,"result":{"status":2,"generate_result":"https://cdn.example.net/a"}}}',
  ])('the answer to a poll of a job in a wrapper has the state of the job: %s', body => {
    expect(readHistory(answered(body), { kind: 'video', provider: {} })).toMatchObject({
      outcome: 'finished',
      result: { outputs: [{ from: 'url', url: 'https://cdn.example.net/a' }] },
    })
  })

  test('the answer to a poll of a success without a link has no outputs', () => {
    for (const made of [
      {},
      { generated_video: null },
      { generated_video: [{}, null] },
      { generate_result: '' },
    ])
      expect(
        readHistory(answered(JSON.stringify({ status: 2, ...made })), { kind: 'video', provider: {} }),
      ).toMatchObject({
        outcome: 'finished',
        result: { outputs: [] },
      })
  })

  test('the answer to a poll of a failed job has the code and the message', () => {
    expect(readHistory(answered(fixture('failed')), { kind: 'video', provider: {} })).toEqual({
      outcome: 'failed',
      code: 'GEMINI_RAI_MEDIA_FILTERED',
      message: 'The video was filtered because of the safety settings.',
    })
  })

  test.each([
    ['{"status":3}'],
    ['{"status":3,"error_code":"","error_message":""}'],
    ['{"status":3,"error_code":"NOT_ENOUGH_CREDIT","error_message":"Please buy more credit."}'],
  ])('the answer to a poll of a failure without a reason for the client has a default message: %s', body => {
    expect(readHistory(answered(body), { kind: 'video', provider: {} })).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test.each([
    [fixture('processing'), '1 Processing', true],
    ['{"status":"1"}', '1', true],
    ['{"status":4,"status_desc":"Paused"}', '4 Paused', false],
    ['{"status":0}', '0', false],
  ])('%s is of a running job', (body, upstreamStatus, isKnownStatus) => {
    expect(readHistory(answered(body), { kind: 'video', provider: {} })).toEqual({
      outcome: 'running',
      upstreamStatus,
      isKnownStatus,
    })
  })

  test.each([
    [401, fixture('key-not-found')],
    [403, ''],
    [404, '<html>'],
    [429, fixture('rate-limited')],
    [500, fixture('completed-video')],
    [302, fixture('completed-video')],
    [200, '<html>'],
    [200, ''],
    [200, '{"uuid":"a"}'],
    [200, '{"status":null}'],
  ])('the answer to a poll of status %d with %j is unavailable', (status, body) => {
    expect(readHistory(answered(body, status), { kind: 'video', provider: {} })).toMatchObject({
      outcome: 'unavailable',
    })
  })
})
