import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { fixturesOf } from '../../../test/support/fixture.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { klingProvider } from '../../../test/support/media-providers.ts'
import { usd } from '../../domain/money.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import {
  createBody,
  createKind,
  externalIdOf,
  formatUpstreamId,
  parseUpstreamId,
  readCreated,
  readTask,
} from './wire.ts'

/** For a row that does not say what a credit costs. */
const readUnpriced = (answer: MediaAnswer) => readTask(answer, {})

const fixture = fixturesOf(import.meta)

function aCall(change: Partial<SubmitCall> = {}): SubmitCall {
  return aSubmitCall(klingProvider('http://127.0.0.1'), { kind: 'video', model: 'kling-v2-6', ...change })
}

async function bodyOf(change: Partial<SubmitCall>): Promise<unknown> {
  return JSON.parse((await bytesOf(joinedBody(createBody(aCall(change))).stream)).toString())
}

function answered(body: string, status = 200): MediaAnswer {
  return { status, body }
}

describe('a create', () => {
  test('a create from text has the model, the prompt, our id, the parameters and the duration as text', async () => {
    const params = { aspect_ratio: '16:9', mode: 'pro', cfg_scale: 0.5 }

    expect(await bodyOf({ jobId: 'vid_1', params, durationMs: 5000, count: 4 })).toEqual({
      model_name: 'kling-v2-6',
      prompt: 'A lighthouse at dawn',
      ...params,
      duration: '5',
      external_task_id: 'vid_1',
    })
  })

  test.each([
    [10_000, '10'],
    [7500, '7.5'],
    [undefined, undefined],
  ])('a create of %j ms has the duration %j', async (durationMs, duration) => {
    expect(
      ((await bodyOf(durationMs === undefined ? {} : { durationMs })) as { duration?: string }).duration,
    ).toBe(duration)
  })

  test.each(['n', 'external_task_id', 'callback_url', 'image', 'image_role', 'model_name', 'duration'])(
    'a create never has %s from the parameters',
    async name => {
      expect(Object.values((await bodyOf({ params: { [name]: 'x' } })) as object)).not.toContain('x')
    },
  )

  test('a create has the first image and the last frame, as links or in base64 without a prefix', async () => {
    const images = [
      bytesInput(new Uint8Array([1, 2, 3])),
      { from: 'url', url: 'https://example.com/end.png' },
    ] as const

    expect(await bodyOf({ images })).toMatchObject({
      image: 'AQID',
      image_tail: 'https://example.com/end.png',
    })
  })

  test('a create includes inputs that the API has no field for', async () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(id => ({ from: 'provider_id', id }) as const)

    const body = await bodyOf({
      images: [a!, b!, c!],
      videos: [d!],
      scenes: ['one', 'two'],
      refUpstreamId: 'text2video/77',
    })

    expect(body).toMatchObject({
      image: 'a',
      image_tail: 'b',
      image_list: ['c'],
      video: 'd',
      video_id: '77',
      scenes: ['one', 'two'],
    })
  })

  test.each([
    [[{ prompt: 'A bay', cuts: [1.5, null, true] }, 7, null]],
    [{ dataUrl: { mediaType: 'image/png', bytes: 3 }, base64: {}, json: 'x' }],
    [{ open: 'a door' }],
    [false],
  ])('a create includes the scenes %j as they came', async scenes => {
    expect(await bodyOf({ scenes })).toMatchObject({ scenes })
  })

  test('a create includes several videos as a list', async () => {
    const videos = ['a', 'b'].map(id => ({ from: 'provider_id', id }) as const)

    expect(await bodyOf({ videos })).toMatchObject({ video: ['a', 'b'] })
  })

  test('a create is of the kind that its inputs ask for', () => {
    const image = { from: 'url', url: 'https://example.com/a.png' } as const

    expect([createKind({ images: [] }), createKind({ images: [image] })]).toEqual([
      'text2video',
      'image2video',
    ])
  })
})

describe('an upstream id', () => {
  test.each(['789', 'a/b', '..', 'x'.repeat(4096), 'new\nline', '%2e'])(
    'an upstream id keeps the kind and the id %j',
    taskId => {
      const job = { kind: 'image2video', taskId } as const

      expect(parseUpstreamId(formatUpstreamId(job))).toEqual(job)
    },
  )

  test.each(['789', 'text2video/', 'other/789', '', '/789'])('%j is not one of this provider', upstreamId => {
    expect(parseUpstreamId(upstreamId)).toBeUndefined()
  })
})

describe('the answer to a create', () => {
  test('a create answered with an id is an accepted job', () => {
    expect(readCreated(answered(fixture('created')), 'text2video')).toEqual({
      outcome: 'accepted',
      upstreamId: 'text2video/789456123001',
    })
  })

  test.each([
    ['{"code":"0","data":{"task_id":12345678901}}', 'text2video/12345678901'],
    ['{"data":{"task_id":"a/../b"}}', 'text2video/a/../b'],
    ['{"code":0,"data":{"task_id":"7","task_status":"failed"}}', 'text2video/7'],
  ])('%s is an accepted job', (body, upstreamId) => {
    expect(readCreated(answered(body), 'text2video')).toEqual({ outcome: 'accepted', upstreamId })
  })

  test.each([
    [401, 'code-1002', 'operator', '1002'],
    [401, 'code-1004', 'operator', '1004'],
    [429, 'code-1102', 'operator', '1102'],
    [200, 'code-1102', 'operator', '1102'],
    [429, 'code-1303', 'rate_limited', '1303'],
    [200, 'code-1303', 'rate_limited', '1303'],
    [400, 'code-1201', 'invalid', '1201'],
    [200, 'code-1301', 'invalid', '1301'],
    [400, 'code-1301', 'invalid', '1301'],
    [404, 'code-1203', 'invalid', '1203'],
    // A 4xx is a rejection, even with a code for a server error.
    [400, 'code-5001', 'invalid', '5001'],
  ])('a create answered with status %d like %s is rejected as %s', (status, name, reason, code) => {
    const outcome = readCreated(answered(fixture(name), status), 'text2video')

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status, code })
  })

  test.each([
    [1100, 'operator'],
    [1101, 'operator'],
    [1103, 'operator'],
    [1302, 'rate_limited'],
    [1304, 'operator'],
    [1000, 'operator'],
    [1300, 'invalid'],
    // Not documented, so the HTTP status decides.
    [1, 'rate_limited'],
    [1305, 'rate_limited'],
  ])('a create answered with the code %d is rejected as %s', (code, reason) => {
    expect(readCreated(answered(`{"code":${code}}`, 429), 'text2video')).toMatchObject({ reason })
  })

  test('a create answered with success, an id and an undocumented code is unknown, because the job may exist', () => {
    const body = '{"code":1999,"message":"?","data":{"task_id":"7"}}'

    expect(readCreated(answered(body), 'text2video')).toEqual({
      outcome: 'unknown',
      problem: 'status 200, code 1999',
    })
    expect(readCreated(answered(body, 400), 'text2video')).toMatchObject({ outcome: 'rejected' })
  })

  test.each([
    [401, 'operator'],
    [402, 'operator'],
    [403, 'operator'],
    [429, 'rate_limited'],
    [408, 'invalid'],
    [409, 'invalid'],
    [413, 'invalid'],
    [302, 'operator'],
  ])('a create answered with status %d without an envelope is rejected as %s', (status, reason) => {
    const outcome = readCreated(answered('<html>', status), 'text2video')

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status })
    expect(outcome).not.toHaveProperty('code')
  })

  test.each([
    [500, fixture('created')],
    [502, '<html>'],
    [504, ''],
    [503, fixture('code-5001')],
    [500, fixture('code-1201')],
    [200, fixture('code-5001')],
  ])('a create answered with status %d and %j is unknown', (status, body) => {
    expect(readCreated(answered(body, status), 'text2video')).toMatchObject({ outcome: 'unknown' })
  })

  test.each([
    '',
    '<html>',
    '{"code":0,"data":{"task_i',
    '[]',
    '{}',
    '{"code":0}',
    '{"code":1999,"message":"Text for the operator."}',
    '{"code":0,"data":{}}',
    '{"code":0,"data":{"task_id":""}}',
    '{"code":0,"data":{"task_id":null}}',
    '{"code":0,"data":{"task_id":1.5}}',
    // No path can name these.
    '{"code":0,"data":{"task_id":"."}}',
    '{"code":0,"data":{"task_id":".."}}',
    '{"code":0,"data":{"task_id":"\\ud800"}}',
  ])('%j names no job', body => {
    expect(readCreated(answered(body), 'text2video')).toMatchObject({
      outcome: 'rejected',
      reason: 'no_id',
      status: 200,
    })
  })

  test('the answer to a create keeps the time to wait and the message', () => {
    expect(
      readCreated({ ...answered(fixture('code-1303'), 429), retryAfterS: 9 }, 'text2video'),
    ).toMatchObject({
      message: 'parallel task over resource pack limit',
      retryAfterS: 9,
    })
  })
})

describe('the answer to a query', () => {
  test("a job that failed for the operator's balance does not show it", () => {
    const data = { task_id: '7', task_status: 'failed', task_status_msg: 'Insufficient account balance' }

    expect(readUnpriced(answered(JSON.stringify({ code: 0, data })))).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test.each([
    ['succeed', '10', '1.4'],
    ['failed', '2.5', '0.35'],
    ['failed', 0, '0'],
  ])('a job that ended as %s and cost %j units has the cost of the operator', (task_status, units, cost) => {
    const body = taskBody({ task_status, final_unit_deduction: units })

    const outcome = readTask(answered(body), { creditUsd: usd('0.14') })

    const billed = outcome.outcome === 'finished' ? outcome.result : outcome
    expect(billed).toMatchObject({ providerCost: usd(cost) })
  })

  test('a finished job has the links and the duration', () => {
    expect(readUnpriced(answered(fixture('succeed')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [{ from: 'url', url: 'https://cdn.example.net/bs2/upload/789456123002.mp4?x-kcdn-pid=1' }],
        durationMs: 5100,
        isCounted: true,
      },
    })
  })

  test('a failed job has the reason', () => {
    expect(readUnpriced(answered(fixture('failed')))).toEqual({
      outcome: 'failed',
      message: 'Failure to pass the risk control system',
    })
  })

  test.each([
    ['submitted', true],
    ['processing', true],
    ['Processing', true],
    ['queueing', false],
    ['canceled', false],
  ])('a job with the status %s is running, and known: %j', (word, isKnownStatus) => {
    expect(readUnpriced(answered(taskBody({ task_status: word })))).toEqual({
      outcome: 'running',
      upstreamStatus: word,
      isKnownStatus,
    })
  })

  test.each(['succeed', 'succeeded', 'SUCCESS', 'completed'])(
    'a job with the status %s is finished',
    task_status => {
      expect(readUnpriced(answered(taskBody({ task_status }))).outcome).toBe('finished')
    },
  )

  test.each([
    ['5', 5000],
    ['5.041', 5041],
    [5.1, 5100],
    ['0', undefined],
    ['-5', undefined],
    [-5, undefined],
    ['abc', undefined],
    ['', undefined],
    ['1e3', undefined],
    [null, undefined],
    [1e300, undefined],
    [undefined, undefined],
  ])('a job with the duration %j has %j milliseconds', (duration, durationMs) => {
    const videos = [{ url: 'https://example.com/a.mp4', duration }]

    const outcome = readUnpriced(answered(taskBody({ task_status: 'succeed', task_result: { videos } })))

    expect(outcome.outcome === 'finished' && outcome.result.durationMs).toBe(durationMs)
  })

  test.each([
    [undefined],
    [null],
    [{}],
    [{ videos: null }],
    [{ videos: [] }],
    [{ videos: [{}, null, 5, { url: '' }, { url: 7 }] }],
  ])('a job that succeeded with the result %j has no outputs', task_result => {
    expect(readUnpriced(answered(taskBody({ task_status: 'succeed', task_result })))).toMatchObject({
      outcome: 'finished',
      result: { outputs: [] },
    })
  })

  test.each(['/relative.mp4', 'data:video/mp4;base64,AAAA', 'http://169.254.169.254/a.mp4'])(
    'a finished job has the link %s unchanged',
    url => {
      const outcome = readUnpriced(
        answered(taskBody({ task_status: 'succeed', task_result: { videos: [{ url }] } })),
      )

      expect(outcome).toMatchObject({ result: { outputs: [{ from: 'url', url }] } })
    },
  )

  test.each([
    [401, fixture('code-1004')],
    [403, ''],
    [404, fixture('code-1203')],
    [429, fixture('code-1303')],
    [500, fixture('succeed')],
    [200, fixture('code-5001')],
    [200, '<html>'],
    [200, ''],
    [200, '{"code":0,"data":{}}'],
    [200, '{"code":0,"data":{"task_status":""}}'],
    [302, fixture('succeed')],
  ])('a query answered with status %d and %j is unavailable', (status, body) => {
    expect(readUnpriced(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })

  test('a job that failed without a reason has a default message', () => {
    expect(readUnpriced(answered(taskBody({ task_status: 'failed' })))).toMatchObject({
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test('the answer to a query names the job that the task was created for', () => {
    expect(externalIdOf(answered(fixture('succeed')))).toBe('vid_00000000000000000000000001')
    expect(externalIdOf(answered(taskBody({ task_info: { external_task_id: '' } })))).toBeUndefined()
    expect(externalIdOf(answered('<html>'))).toBeUndefined()
  })
})

function taskBody(data: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ code: 0, message: 'SUCCEED', data: { task_id: '1', ...data } })
}
