import { describe, expect, test } from 'bun:test'
import { fixturesOf } from '../../../test/support/fixture.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { formatUpstreamId, parseUpstreamId, readFile, readSubmitted, readTaskV1, readTaskV2 } from './wire.ts'

const fixture = fixturesOf(import.meta)

function answered(body: string, status = 200): MediaAnswer {
  return { status, body }
}

describe('an upstream id', () => {
  test.each(['1069', 'a/b', '..', 'x'.repeat(4096), 'new\nline'])(
    'an upstream id keeps the version and the id %j',
    taskId => {
      const job = { version: 'v2', taskId } as const

      expect(parseUpstreamId(formatUpstreamId(job))).toEqual(job)
    },
  )

  test.each(['1069', 'v1/', 'v3/1069', ''])('%j is not one of this provider', upstreamId => {
    expect(parseUpstreamId(upstreamId)).toBeUndefined()
  })
})

describe('the answer to a submission', () => {
  test.each([
    ['v1', 'v1-created', 'v1/106916112212032'],
    ['v2', 'v2-created', 'v2/272076440301631191'],
  ] as const)(
    'the answer to a submission of %s with an id is an accepted job',
    (version, name, upstreamId) => {
      expect(readSubmitted(answered(fixture(name)), version)).toEqual({ outcome: 'accepted', upstreamId })
    },
  )

  test('the answer to a submission with an id and a code that is not documented is an accepted job, because the job may exist', () => {
    const body = '{"task_id":"7","base_resp":{"status_code":1999,"status_msg":"?"}}'

    expect(readSubmitted(answered(body), 'v1')).toEqual({ outcome: 'accepted', upstreamId: 'v1/7' })
  })

  test.each([
    ['code-1002', 'rate_limited', '1002'],
    ['code-1004', 'operator', '1004'],
    ['code-1008', 'operator', '1008'],
    ['code-1026', 'invalid', '1026'],
    ['code-2013', 'invalid', '2013'],
  ])('the answer to a submission of status 200 like %s is rejected as %s', (name, reason, code) => {
    expect(readSubmitted(answered(fixture(name)), 'v1')).toMatchObject({
      outcome: 'rejected',
      reason,
      status: 200,
      code,
    })
  })

  test.each([
    [1039, 'rate_limited'],
    [2049, 'operator'],
    [1027, 'invalid'],
    // Not documented, so the HTTP status decides.
    [1999, 'rate_limited'],
  ])('the answer to a submission with the code %d is rejected as %s', (code, reason) => {
    const body = JSON.stringify({ base_resp: { status_code: code } })

    expect(readSubmitted(answered(body, 429), 'v1')).toMatchObject({ outcome: 'rejected', reason })
  })

  test('the answer to a submission of v2 has its error in another place', () => {
    expect(readSubmitted(answered(fixture('v2-error'), 400), 'v2')).toEqual({
      outcome: 'rejected',
      reason: 'invalid',
      status: 400,
      code: 'bad_request_error',
      message: 'invalid params, duration must be between 4 and 15',
    })
  })

  test.each(['authentication_error', 'permission_error', 'insufficient_balance_error'])(
    "the answer to a submission with the error %s is the operator's trouble",
    type => {
      const body = JSON.stringify({ error: { type, message: 'No.' } })

      expect(readSubmitted(answered(body, 400), 'v2')).toMatchObject({
        outcome: 'rejected',
        reason: 'operator',
      })
    },
  )

  test.each([
    [401, 'operator'],
    [402, 'operator'],
    [403, 'operator'],
    [302, 'operator'],
    [429, 'rate_limited'],
    [408, 'invalid'],
    [409, 'invalid'],
  ])('the answer to a submission of status %d without a code is rejected as %s', (status, reason) => {
    const outcome = readSubmitted(answered('<html>', status), 'v1')

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status })
    expect(outcome).not.toHaveProperty('code')
  })

  test.each([
    [500, fixture('v1-created')],
    [502, '<html>'],
    [504, ''],
    [200, fixture('code-1013')],
    [200, '{"task_id":"","base_resp":{"status_code":1000}}'],
    [200, '{"task_id":"","base_resp":{"status_code":1001}}'],
    [200, '{"base_resp":{"status_code":1024,"status_msg":"internal error"}}'],
    [200, '{"base_resp":{"status_code":1033,"status_msg":"system error"}}'],
  ])('the answer to a submission of status %d with %j is unknown', (status, body) => {
    expect(readSubmitted(answered(body, status), 'v1')).toMatchObject({ outcome: 'unknown' })
  })

  test.each([
    '',
    '<html>',
    '{"task_id":"1069',
    '{}',
    '{"base_resp":{"status_code":0}}',
    '{"task_id":"","base_resp":{"status_code":0}}',
    '{"task_id":null}',
    '{"task_id":1.5}',
    '{"task_id":".."}',
    '{"base_resp":{"status_code":1999,"status_msg":"Text for the operator."}}',
    '{"base_resp":{"status_code":"constructor"}}',
  ])('%j names no job', body => {
    expect(readSubmitted(answered(body), 'v1')).toMatchObject({ outcome: 'rejected', reason: 'no_id' })
  })
})

describe('the answer to a query of v1', () => {
  test('the answer to a query of v1 of a finished job has the id of its file', () => {
    expect(readTaskV1(answered(fixture('v1-success')))).toEqual({
      outcome: 'made',
      fileId: '176844028768320',
    })
  })

  test.each([
    ['"file_id": 9007199254740993, "a":1', '9007199254740993'],
    ['"file_id":"abc-1"', 'abc-1'],
  ])('the answer to a query of v1 reads %s without losing digits', (member, fileId) => {
    expect(readTaskV1(answered(`{"status":"Success",${member}}`))).toEqual({ outcome: 'made', fileId })
  })

  test.each(['', ',"file_id":""', ',"file_id":null', ',"file_id":0'])(
    'the answer to a query of v1 of a success with %j is unavailable, because there is no file to retrieve',
    member => {
      expect(readTaskV1(answered(`{"status":"Success"${member}}`))).toEqual({
        outcome: 'unavailable',
        problem: 'status 200, no file',
      })
    },
  )

  test('the answer to a query of v1 of a failed job has the code and the message', () => {
    expect(readTaskV1(answered(fixture('v1-fail')))).toEqual({
      outcome: 'failed',
      code: '1027',
      message: 'output new_sensitive',
    })
  })

  test.each([
    ['{"status":"Fail","base_resp":{"status_code":0,"status_msg":"success"}}'],
    ['{"status":"Fail"}'],
  ])(
    'the answer to a query of v1 of a failure without a reason for the client has a default message: %s',
    body => {
      expect(readTaskV1(answered(body))).toEqual({
        outcome: 'failed',
        message: 'The provider could not make the result and did not say why.',
      })
    },
  )

  test.each([1026, 1027, 2013, 1999, 'constructor'])(
    'the answer to a query of v1 of a failure with the code %j ends the job',
    code => {
      const body = JSON.stringify({ status: 'Fail', base_resp: { status_code: code, status_msg: 'No.' } })

      expect(readTaskV1(answered(body))).toEqual({ outcome: 'failed', code: String(code), message: 'No.' })
    },
  )

  test.each([1000, 1001, 1013, 1024, 1033, 1002, 1039, 1004, 2049, 1008])(
    'the answer to a query of v1 of a failure with the code %d is unavailable, because the code is about the query',
    code => {
      const body = JSON.stringify({ status: 'Fail', base_resp: { status_code: code } })

      expect(readTaskV1(answered(body))).toEqual({
        outcome: 'unavailable',
        problem: `status 200, code ${code}`,
      })
    },
  )

  test('the answer to a query of v1 of a running job has its status', () => {
    expect(readTaskV1(answered(fixture('v1-processing')))).toEqual({
      outcome: 'running',
      upstreamStatus: 'Processing',
      isKnownStatus: true,
    })
  })

  test.each([
    ['Preparing', true],
    ['Queueing', true],
    ['Processing', true],
    ['Paused', false],
  ])('the answer to a query of v1 with the status %s is running, and known: %j', (status, isKnownStatus) => {
    expect(readTaskV1(answered(JSON.stringify({ status })))).toEqual({
      outcome: 'running',
      upstreamStatus: status,
      isKnownStatus,
    })
  })

  test.each([
    [401, ''],
    [404, '<html>'],
    [500, fixture('v1-success')],
    [302, fixture('v1-success')],
    [200, fixture('code-1002')],
    [200, fixture('code-1004')],
    [200, '<html>'],
    [200, ''],
    [200, '{"status":""}'],
    [200, '{"status":"Success","file_id":"1","base_resp":{"status_code":1013}}'],
  ])('the answer to a query of v1 of status %d with %j is unavailable', (status, body) => {
    expect(readTaskV1(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })
})

describe('the answer that retrieves a file', () => {
  test('the answer that retrieves a file has the link', () => {
    expect(readFile(answered(fixture('v1-file')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [{ from: 'url', url: 'https://public-cdn.example.net/output_aigc.mp4?Expires=1700473000' }],
        isCounted: true,
      },
    })
  })

  test.each([
    [200, fixture('code-1002')],
    [200, '{"file":{"download_url":""},"base_resp":{"status_code":0}}'],
    [200, '{"file":{}}'],
    [200, '<html>'],
    [500, fixture('v1-file')],
  ])('the answer that retrieves a file of status %d with %j leaves the job as it is', (status, body) => {
    expect(readFile(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })
})

describe('the answer to a query of v2', () => {
  test('the answer to a query of v2 of a finished job has the link and the seconds of the output', () => {
    expect(readTaskV2(answered(fixture('v2-succeeded')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [{ from: 'url', url: 'https://public-cdn.example.net/h3.mp4?Expires=1786613600' }],
        durationMs: 5000,
        isCounted: true,
      },
    })
  })

  test.each([
    [{ output_seconds: 5.04 }, 5, 5040],
    [{ output_seconds: '7' }, 5, 7000],
    [{ output_seconds: -5 }, 5, 5000],
    [{ output_seconds: 'five' }, undefined, undefined],
    [{ total_seconds: 9 }, undefined, undefined],
    [undefined, '6', 6000],
    [undefined, 0, undefined],
    [undefined, 1e300, undefined],
  ])(
    'the answer to a query of v2 with the usage %j and the duration %j has %j milliseconds',
    (usage, duration, durationMs) => {
      const outcome = readTaskV2(answered(JSON.stringify({ task: { status: 'succeeded', usage, duration } })))

      expect(outcome.outcome === 'finished' && outcome.result.durationMs).toBe(durationMs as number)
    },
  )

  test('the answer to a query of v2 of a failed job has the code and the message', () => {
    expect(readTaskV2(answered(fixture('v2-failed')))).toEqual({
      outcome: 'failed',
      code: '1027',
      message: 'output new_sensitive',
    })
  })

  test("the answer to a query of v2 of a job that failed for the operator's balance has a default message", () => {
    const error = { code: 1008, message: 'insufficient balance' }

    expect(readTaskV2(answered(JSON.stringify({ task: { status: 'failed', error } })))).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test('the answer to a query of v2 of a cancelled job is a failure', () => {
    expect(readTaskV2(answered('{"task":{"status":"cancelled"}}'))).toMatchObject({ outcome: 'failed' })
  })

  test('the answer to a query of v2 of a running job has its status', () => {
    expect(readTaskV2(answered(fixture('v2-running')))).toEqual({
      outcome: 'running',
      upstreamStatus: 'running',
      isKnownStatus: true,
    })
  })

  test.each([
    ['queued', true],
    ['running', true],
    ['expired', false],
  ])('the answer to a query of v2 with the status %s is running, and known: %j', (status, isKnownStatus) => {
    expect(readTaskV2(answered(JSON.stringify({ task: { status } })))).toEqual({
      outcome: 'running',
      upstreamStatus: status,
      isKnownStatus,
    })
  })

  test('the answer to a query of v2 of a success without a link has no outputs', () => {
    for (const content of [undefined, null, {}, { url: '' }, { url: 7 }])
      expect(readTaskV2(answered(JSON.stringify({ task: { status: 'succeeded', content } })))).toMatchObject({
        outcome: 'finished',
        result: { outputs: [] },
      })
  })

  test.each([
    [401, '{"error":{"type":"authentication_error"}}'],
    [404, ''],
    // Only jobs of the last seven days are known.
    [200, '{"base_resp":{"status_code":2013,"status_msg":"invalid task_id"}}'],
    [500, fixture('v2-succeeded')],
    [200, '{"task":{}}'],
    [200, '<html>'],
  ])('the answer to a query of v2 of status %d with %j is unavailable', (status, body) => {
    expect(readTaskV2(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })
})
