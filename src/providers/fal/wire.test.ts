import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import {
  appOf,
  createBody,
  formatUpstreamId,
  parseUpstreamId,
  pathOf,
  readCreated,
  readResult,
  readStatus,
} from './wire.ts'

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8')
const answered = (body: string, status = 200): MediaAnswer => ({
  status,
  contentType: 'application/json',
  body,
})
const model = 'fal-ai/flux/dev'
const baseUrl = new URL('https://queue.fal.run')
const created = (answer: MediaAnswer) => readCreated(answer, { model, baseUrl })

async function bodyOf(change: Partial<SubmitCall>): Promise<unknown> {
  const row = mediaProviderRow('fal', baseUrl.href)
  const call = aSubmitCall(row, { model, ...change })
  const body = createBody(call)
  if ('refusal' in body) throw new Error(body.refusal)
  return JSON.parse((await bytesOf(joinedBody(body).stream)).toString())
}

describe('the body of a submission', () => {
  test('a submission has the prompt and the parameters of the row', async () => {
    const params = { aspect_ratio: '16:9', num_inference_steps: 28 }

    expect(await bodyOf({ prompt: 'A bay', params })).toEqual({ prompt: 'A bay', ...params })
  })

  test.each([
    ['fal-ai/kling-video/v2.1/master/text-to-video', 5000, '5'],
    ['fal-ai/veo3/fast', 8000, '8s'],
    ['fal-ai/sora-2/text-to-video', 4000, 4],
    ['fal-ai/wan/v2.2/text-to-video', 3500, '3.5'],
  ])('a submission to %s has %d ms as the duration %j', async (named, durationMs, duration) => {
    expect(await bodyOf({ model: named, durationMs })).toMatchObject({ duration })
  })

  test.each(['prompt', 'duration', 'image_url', 'image_urls', 'video_url', 'num_images', 'sync_mode'])(
    'a submission never has %s from the parameters',
    async name => {
      expect(Object.values((await bodyOf({ params: { [name]: 'x' } })) as object)).not.toContain('x')
    },
  )

  const [one, two] = ['https://example.com/1.png', 'https://example.com/2.png'].map(
    url => ({ from: 'url', url }) as const,
  )
  test.each([
    ['fal-ai/flux/dev/image-to-image', [one!], { image_url: one!.url }],
    ['fal-ai/nano-banana/edit', [one!], { image_urls: [one!.url] }],
    ['fal-ai/veo3.1/reference-to-video', [one!], { image_urls: [one!.url] }],
    ['fal-ai/flux-pro/kontext', [one!, two!], { image_urls: [one!.url, two!.url] }],
  ])(
    'a submission to %s has its images under the name that the model reads',
    async (named, images, expected) => {
      const body = (await bodyOf({ model: named, images })) as Record<string, unknown>

      expect(body).toMatchObject(expected)
      expect(Object.keys(body).filter(name => name.startsWith('image'))).toEqual(Object.keys(expected))
    },
  )

  test('a submission has its images under the name of the row, which is not sent itself', async () => {
    const params = { image_field: 'start_image_url' }

    expect(await bodyOf({ prompt: 'A bay', params, images: [one!] })).toEqual({
      prompt: 'A bay',
      start_image_url: one!.url,
    })
  })

  test('a submission has bytes as data URLs', async () => {
    const images = [bytesInput(new Uint8Array([1, 2, 3]), 'image/webp')]

    expect(await bodyOf({ images })).toMatchObject({ image_url: 'data:image/webp;base64,AQID' })
  })

  test('a submission has one video as a link, and several as a list', async () => {
    const videos = ['a', 'b'].map(id => ({ from: 'provider_id', id }) as const)

    expect(await bodyOf({ videos: [videos[0]!] })).toMatchObject({ video_url: 'a' })
    expect(await bodyOf({ videos })).toMatchObject({ video_urls: ['a', 'b'] })
  })

  test.each([['one'], [['one', { seconds: 1.5 }]], [false]])(
    'a submission includes the scenes %j as they came',
    async scenes => {
      expect(await bodyOf({ scenes, params: { scenes: 'of the row' } })).toMatchObject({ scenes })
    },
  )
})

describe('the app of a model', () => {
  test.each([
    ['fal-ai/flux', 'fal-ai/flux'],
    ['fal-ai/flux/dev', 'fal-ai/flux'],
    ['fal-ai/kling-video/v2.1/master/text-to-video', 'fal-ai/kling-video'],
    ['workflows/ada/sdxl/run', 'workflows/ada/sdxl'],
    ['comfy/ada/basic', 'comfy/ada/basic'],
  ])('%s is %s', (named, app) => {
    expect(appOf(named)).toBe(app)
  })
})

describe('an upstream id', () => {
  test.each(['764cabcf', 'a/b', '..', 'x'.repeat(4096), 'new\nline', 'a/requests/b'])(
    'an upstream id keeps the app and the id %j',
    requestId => {
      const job = { app: 'fal-ai/flux', requestId }

      expect(parseUpstreamId(formatUpstreamId(job))).toEqual(job)
    },
  )

  test.each([
    '764cabcf',
    'fal-ai/flux/requests/',
    'flux/requests/7',
    '../../x/requests/7',
    'a/../requests/7',
    '',
  ])('%j is not one of this provider', upstreamId => {
    expect(parseUpstreamId(upstreamId)).toBeUndefined()
  })

  test('an upstream id never adds a segment to a path', () => {
    expect(pathOf({ app: 'fal-ai/flux', requestId: 'a/../b?c' })).toBe('/fal-ai/flux/requests/a%2F..%2Fb%3Fc')
  })
})

describe('the answer to a submission', () => {
  test('a submission answered with an id is an accepted job', () => {
    expect(created(answered(fixture('submitted')))).toEqual({
      outcome: 'accepted',
      upstreamId: 'fal-ai/flux/requests/764cabcf-b745-4b3e-ae38-1200304cf45b',
    })
  })

  test.each([
    ['another host', 'https://evil.example/fal-ai/other/requests/7'],
    ['another scheme', 'http://queue.fal.run/fal-ai/other/requests/7'],
    ['another port', 'https://queue.fal.run:8443/fal-ai/other/requests/7'],
    ['another id', 'https://queue.fal.run/fal-ai/other/requests/8'],
    ['no app', 'https://queue.fal.run/requests/7'],
    ['a path out of the app', 'https://queue.fal.run/fal-ai/%2e%2e/x/requests/7'],
    ['no form of a link', 'requests/7'],
  ])('an accepted job has the app of the model where its link has %s', (_, link) => {
    const body = JSON.stringify({ request_id: '7', response_url: link })

    expect(created(answered(body))).toEqual({ outcome: 'accepted', upstreamId: 'fal-ai/flux/requests/7' })
  })

  test('an accepted job has the app of a link under the path of the base URL', () => {
    const body = '{"request_id":"7","response_url":"https://proxy.example/fal/fal-ai/other/requests/7"}'

    expect(
      readCreated(answered(body), { model, baseUrl: new URL('https://proxy.example/fal') }),
    ).toMatchObject({ upstreamId: 'fal-ai/other/requests/7' })
  })

  test.each([
    [401, 'unauthenticated', 'operator', undefined],
    [403, 'exhausted-balance', 'operator', undefined],
    [402, 'exhausted-balance', 'operator', undefined],
    [429, 'too-many-requests', 'rate_limited', undefined],
    [422, 'missing-prompt', 'invalid', 'missing'],
    [422, 'content-policy-violation', 'invalid', 'content_policy_violation'],
    [404, 'not-found', 'invalid', undefined],
    [408, 'request-timeout', 'invalid', 'request_timeout'],
    [409, 'not-found', 'invalid', undefined],
    [307, 'not-found', 'operator', undefined],
  ])('a submission answered with status %d like %s is rejected as %s', (status, name, reason, code) => {
    const outcome = created(answered(fixture(name), status))

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status })
    expect('code' in outcome ? outcome.code : undefined).toBe(code)
  })

  test.each([
    [500, 'submitted'],
    [502, 'internal-server-error'],
    [504, 'request-timeout'],
    [503, 'missing-prompt'],
  ])('a submission answered with status %d like %s is unknown', (status, name) => {
    expect(created(answered(fixture(name), status)).outcome).toBe('unknown')
  })

  test.each([
    '',
    '<html>',
    '{"request_id":"764c',
    '[]',
    '{}',
    '{"request_id":""}',
    '{"request_id":7}',
    '{"request_id":".."}',
    '{"request_id":"\\ud800"}',
  ])('%j names no job', body => {
    expect(created(answered(body))).toMatchObject({ outcome: 'rejected', reason: 'no_id', status: 200 })
  })

  test('the answer to a submission keeps the time to wait', () => {
    expect(created({ ...answered(fixture('too-many-requests'), 429), retryAfterS: 9 })).toMatchObject({
      message: 'Too Many Requests',
      retryAfterS: 9,
    })
  })
})

describe('the status of a request', () => {
  test.each([
    ['in-queue', 'IN_QUEUE'],
    ['in-progress', 'IN_PROGRESS'],
  ])('%s is running', (name, upstreamStatus) => {
    expect(readStatus(answered(fixture(name), 202))).toEqual({
      outcome: 'running',
      upstreamStatus,
      isKnownStatus: true,
    })
  })

  test('a request that is completed has a result to read', () => {
    expect(readStatus(answered(fixture('completed')))).toBe('completed')
  })

  test('a request that is completed with an error is a failure', () => {
    expect(readStatus(answered(fixture('completed-with-error')))).toEqual({
      outcome: 'failed',
      code: 'request_timeout',
      message: 'Request timed out',
    })
  })

  test("a failure about the operator's balance does not show it", () => {
    const error =
      'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.'

    expect(
      readStatus(answered(JSON.stringify({ status: 'COMPLETED', error, error_type: 'locked' }))),
    ).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test.each(['FAILED', 'ERROR', 'CANCELED', 'CANCELLED', 'failed'])('%s is a failure', status => {
    expect(readStatus(answered(JSON.stringify({ status })))).toMatchObject({ outcome: 'failed' })
  })

  test('a request with an unknown status is running, and not known', () => {
    expect(readStatus(answered('{"status":"DREAMING"}'))).toMatchObject({
      outcome: 'running',
      isKnownStatus: false,
    })
  })

  test.each([
    [401, fixture('unauthenticated')],
    [404, fixture('not-found')],
    [500, fixture('completed')],
    [200, '<html>'],
    [200, ''],
    [200, '{}'],
    [200, '{"status":""}'],
    [307, fixture('completed')],
  ])('the status of a request is unavailable after HTTP status %d with %j', (status, body) => {
    expect(readStatus(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })
})

describe('the result of a request', () => {
  test('the result of an image model has all its images', () => {
    expect(readResult(answered(fixture('result-image')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [
          { from: 'url', url: 'https://v3.fal.media/files/lion/a1.png' },
          { from: 'url', url: 'https://v3.fal.media/files/lion/a2.png' },
        ],
        isCounted: true,
      },
    })
  })

  test('the result of a video model has its clip', () => {
    expect(readResult(answered(fixture('result-video')))).toMatchObject({
      result: { outputs: [{ from: 'url', url: 'https://v3.fal.media/files/lion/clip.mp4' }] },
    })
  })

  test.each([
    [{ image: { url: 'https://a.example/1' } }, ['https://a.example/1']],
    [{ image: 'https://a.example/1' }, ['https://a.example/1']],
    [{ image: { url: 'preview' }, video: { url: 'clip' } }, ['clip']],
    [{ images: [{ url: 'preview' }], videos: [{ url: 'clip' }] }, ['clip']],
    [{ images: [{ url: 'a' }], image: { url: 'a' } }, ['a']],
    [{ video: { url: '' }, images: ['a'] }, ['a']],
    [
      { videos: [{ url: 'https://a.example/1' }, 'https://a.example/2'] },
      ['https://a.example/1', 'https://a.example/2'],
    ],
    [{ images: [{ url: '' }, null, 5, {}, { url: 7 }] }, []],
    [{ video: null }, []],
    [{ seed: 1 }, []],
    [{}, []],
  ])('%j has the links %j', (value, links) => {
    const outcome = readResult(answered(JSON.stringify(value)))

    expect(outcome).toMatchObject({ result: { outputs: links.map(url => ({ from: 'url', url })) } })
  })

  test('a result has the bytes of a data URL, and not those of a broken one', () => {
    const images = [{ url: 'data:image/png;base64,AQID' }, { url: 'data:image/png;base64,%' }]

    expect(readResult(answered(JSON.stringify({ images })))).toMatchObject({
      result: { outputs: [{ from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }] },
    })
  })

  test.each(['/relative.mp4', 'http://169.254.169.254/a.mp4'])('a result has the link %s unchanged', url => {
    expect(readResult(answered(JSON.stringify({ video: { url } })))).toMatchObject({
      result: { outputs: [{ from: 'url', url }] },
    })
  })

  test.each([
    [{ video: { url: 'a', duration: 5.04 } }, 5040],
    [{ video: { url: 'a' }, duration: 6 }, 6000],
    [{ video: { url: 'a', duration: '5' } }, 5000],
    [{ video: { url: 'a', duration: 'five' } }, undefined],
    [{ video: { url: 'a', duration: -5 } }, undefined],
    [{ video: { url: 'a', duration: 0 } }, undefined],
    [{ video: { url: 'a', duration: 1e300 } }, undefined],
    [{ video: { url: 'a' } }, undefined],
  ])('%j has the length %j', (value, durationMs) => {
    const outcome = readResult(answered(JSON.stringify(value)))

    expect(outcome.outcome === 'finished' && outcome.result.durationMs).toBe(durationMs)
  })

  test.each([
    [422, 'content-policy-violation', 'content_policy_violation'],
    [422, 'missing-prompt', 'missing'],
    [500, 'downstream-service-error', 'downstream_service_error'],
  ])('a result with HTTP status %d like %s is a failure of the job', (status, name, code) => {
    expect(readResult(answered(fixture(name), status))).toMatchObject({ outcome: 'failed', code })
  })

  test('a result with HTTP status 422 and a text is a failure of the job', () => {
    expect(readResult(answered('{"detail":"The image is too small."}', 422))).toEqual({
      outcome: 'failed',
      message: 'The image is too small.',
    })
  })

  test.each([400, 409, 410, 423, 425, 500, 503, 504])(
    'a result with HTTP status %d and a text says nothing about the job',
    status => {
      expect(readResult(answered('{"detail":"Conflict, try again"}', status))).toMatchObject({
        outcome: 'unavailable',
      })
    },
  )

  test.each([401, 402, 403, 404, 405, 408, 429])(
    'a query refused with HTTP status %d says nothing about the job',
    status => {
      const reply = answered(fixture('content-policy-violation'), status)

      expect(readResult(reply)).toMatchObject({ outcome: 'unavailable' })
    },
  )

  test('the result of a failure says what the model said', () => {
    const outcome = readResult(answered(fixture('content-policy-violation'), 422))

    expect(outcome).toMatchObject({ message: expect.stringContaining('flagged by a content checker') })
  })

  test.each([
    [401, 'unauthenticated'],
    [403, 'exhausted-balance'],
    [404, 'not-found'],
    [429, 'too-many-requests'],
    [500, 'internal-server-error'],
    [404, 'missing-prompt'],
    [504, 'request-timeout'],
    [307, 'result-image'],
  ])('a result with HTTP status %d like %s says nothing about the job', (status, name) => {
    expect(readResult(answered(fixture(name), status))).toMatchObject({ outcome: 'unavailable' })
  })

  test('a job whose result is asked for too early is still running', () => {
    expect(readResult(answered(fixture('still-in-progress'), 400))).toMatchObject({ outcome: 'running' })
  })

  test.each(['<html>', '', '[]', '{"images":['])('%j is unavailable', body => {
    expect(readResult(answered(body))).toMatchObject({ outcome: 'unavailable' })
  })
})
