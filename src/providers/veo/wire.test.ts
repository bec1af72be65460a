import { describe, expect, test } from 'bun:test'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { operationPath, readOperation, readSubmitted, submitBody, withKey } from './wire.ts'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { fixturesOf } from '../../../test/support/fixture.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'

const row = mediaProviderRow('veo', 'http://127.0.0.1')
const [first, last, third] = [1, 2, 3].map(byte => bytesInput(new Uint8Array([byte])))

async function bodyOf(change: Partial<SubmitCall> = {}): Promise<unknown> {
  const body = submitBody(aSubmitCall(row, { kind: 'video', ...change }))
  if ('refusal' in body) throw new Error(body.refusal)
  return JSON.parse((await bytesOf(joinedBody(body).stream)).toString())
}

describe('a submission', () => {
  test('a submission has the prompt, the duration as a number, and the parameters in camel case', async () => {
    const params = {
      aspect_ratio: '9:16',
      resolution: '720p',
      negative_prompt: 'fog',
      personGeneration: 'allow_adult',
    }

    expect(await bodyOf({ durationMs: 8000, params })).toEqual({
      instances: [{ prompt: 'A lighthouse at dawn' }],
      parameters: {
        aspectRatio: '9:16',
        resolution: '720p',
        negativePrompt: 'fog',
        personGeneration: 'allow_adult',
        sampleCount: 1,
        durationSeconds: 8,
      },
    })
  })

  test('a submission asks for one clip, however many the client asked for', async () => {
    expect(await bodyOf({ count: 4, params: { sample_count: 4 } })).toMatchObject({
      parameters: { sampleCount: 1 },
    })
  })

  test('a submission has one image as the first frame, and two as the first and the last', async () => {
    const { instances } = (await bodyOf({ images: [first!, last!] })) as { instances: object[] }

    expect(await bodyOf({ images: [first!] })).toMatchObject({
      instances: [{ image: { bytesBase64Encoded: 'AQ==', mimeType: 'image/png' } }],
    })
    expect(instances).toEqual([
      {
        prompt: 'A lighthouse at dawn',
        image: { bytesBase64Encoded: 'AQ==', mimeType: 'image/png' },
        lastFrame: { bytesBase64Encoded: 'Ag==', mimeType: 'image/png' },
      },
    ])
  })

  test.each([
    [[first!, last!, third!], {}, 3],
    [[first!], { image_role: 'reference' }, 1],
  ])('a submission has more images, or all with the role, as references', async (images, params, count) => {
    const { instances, parameters } = (await bodyOf({ images, params })) as {
      instances: { referenceImages: object[]; image?: object }[]
      parameters: object
    }

    expect(instances[0]?.referenceImages.length).toBe(count)
    expect(instances[0]?.referenceImages[0]).toEqual({
      image: { bytesBase64Encoded: 'AQ==', mimeType: 'image/png' },
      referenceType: 'asset',
    })
    expect(instances[0]).not.toHaveProperty('image')
    expect(parameters).not.toHaveProperty('imageRole')
  })

  test.each([
    [bytesInput(new Uint8Array([1]), 'video/mp4'), { encodedVideo: 'AQ==', encoding: 'video/mp4' }],
    [{ from: 'url', url: 'https://example.com/a' } as const, { uri: 'https://example.com/a' }],
    [{ from: 'provider_id', id: 'files/a' } as const, { uri: 'files/a' }],
  ])('a submission has a video to continue', async (input, video) => {
    expect(await bodyOf({ videos: [input] })).toMatchObject({ instances: [{ video }] })
  })

  test.each<[string, Partial<SubmitCall>]>([
    ['an image that is a link', { images: [{ from: 'url', url: 'https://example.com/a.png' }] }],
    ['an image that is an id', { images: [{ from: 'provider_id', id: 'files/a' }] }],
    ['two videos', { videos: [first!, last!] }],
    ['scenes', { scenes: ['one'] }],
  ])('a submission with %s is refused', (_, change) => {
    expect(submitBody(aSubmitCall(row, { kind: 'video', ...change }))).toEqual({
      refusal: expect.any(String),
    })
  })
})

const fixture = fixturesOf(import.meta)
const NAME = 'models/veo-3.1-generate-preview/operations/8qzc3fvm2lkx'
const OWN = { url: new URL('https://generativelanguage.googleapis.com/v1beta/x'), key: 'key-1' }

function answered(body: string, status = 200): MediaAnswer {
  return { status, body }
}

describe('the answer to a submission', () => {
  test('a submission answered with the name of an operation is an accepted job', () => {
    expect(readSubmitted(answered(fixture('created')))).toEqual({ outcome: 'accepted', upstreamId: NAME })
  })

  test.each([
    [400, 'invalid-argument', 'invalid', 'INVALID_ARGUMENT'],
    [408, 'invalid-argument', 'invalid', 'INVALID_ARGUMENT'],
    // A wrong key has the status of a wrong request.
    [400, 'key-refused', 'operator', 'INVALID_ARGUMENT'],
    [403, 'permission-denied', 'operator', 'PERMISSION_DENIED'],
    [429, 'quota-of-minute', 'rate_limited', 'RESOURCE_EXHAUSTED'],
    [429, 'quota-of-day', 'operator', 'RESOURCE_EXHAUSTED'],
  ])('a submission answered with status %d like %s is rejected as %s', (status, name, reason, code) => {
    expect(readSubmitted(answered(fixture(name), status))).toMatchObject({
      outcome: 'rejected',
      reason,
      status,
      code,
    })
  })

  test.each([
    ['FAILED_PRECONDITION', 400, 'operator'],
    ['NOT_FOUND', 404, 'operator'],
    ['UNAUTHENTICATED', 401, 'operator'],
    ['OUT_OF_RANGE', 400, 'invalid'],
  ])('a submission answered with the code %s is rejected as the code says', (status, code, reason) => {
    const body = JSON.stringify({ error: { code, message: 'No.', status } })

    expect(readSubmitted(answered(body, code))).toMatchObject({ outcome: 'rejected', reason })
  })

  test.each([
    [401, 'operator'],
    [402, 'operator'],
    [403, 'operator'],
    [302, 'operator'],
    [429, 'rate_limited'],
    [409, 'invalid'],
    [413, 'invalid'],
  ])('a submission answered with status %d without an error in it is rejected as %s', (status, reason) => {
    const outcome = readSubmitted(answered('<html>', status))

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status })
    expect(outcome).not.toHaveProperty('code')
  })

  test("an answer that limits the rate has the time to wait, and not the text about the operator's plan", () => {
    const outcome = readSubmitted(answered(fixture('quota-of-minute'), 429))

    expect(outcome).toMatchObject({ retryAfterS: 7 })
    expect(JSON.stringify(outcome)).not.toContain('billing')
  })

  test.each([
    [500, fixture('created')],
    [502, '<html>'],
    [503, fixture('unavailable')],
    [504, ''],
  ])('a submission answered with status %d and %j is unknown', (status, body) => {
    expect(readSubmitted(answered(body, status))).toMatchObject({ outcome: 'unknown' })
  })

  test.each([
    '',
    '<html>',
    '{"name":"models/veo/operat',
    '{}',
    '{"name":""}',
    '{"name":7}',
    '{"name":"models/veo"}',
    '{"name":"models/veo/operations/"}',
    '{"name":"models/../operations/1"}',
    '{"name":"/operations/1"}',
    '{"name":"operations/\\ud800"}',
  ])('%j names no operation', body => {
    expect(readSubmitted(answered(body))).toMatchObject({ outcome: 'rejected', reason: 'no_id', status: 200 })
  })
})

test.each([
  ['operations/1', '/operations/1'],
  ['models/veo/operations/a?b#c', '/models/veo/operations/a%3Fb%23c'],
  ['projects/..', undefined],
  ['text2video/789', undefined],
])('the path of the operation %j is %j', (name, path) => {
  expect(operationPath(name)).toBe(path as string)
})

describe('the answer to a poll', () => {
  test('a finished job has the link, and no duration', () => {
    expect(readOperation(answered(fixture('finished')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [
          {
            from: 'url',
            url: 'https://generativelanguage.googleapis.com/v1beta/files/xq7rk2p9wd3m:download?alt=media',
          },
        ],
        isCounted: true,
      },
    })
  })

  test('a finished job may have the clip itself', () => {
    const outcome = readOperation(answered(fixture('encoded')))

    const bytes = Uint8Array.from([0, 0, 0, 24, 0x66, 0x74, 0x79, 0x70])
    expect(outcome).toMatchObject({ outcome: 'finished', result: { outputs: [{ from: 'bytes', bytes }] } })
  })

  test('a job that the content filter stopped is a failure with the reasons', () => {
    expect(readOperation(answered(fixture('filtered')))).toEqual({
      outcome: 'failed',
      code: 'RAI_MEDIA_FILTERED',
      message: 'The prompt could not be used because of the safety settings for people.',
    })
  })

  test('a job of which the content filter left a clip has this clip', () => {
    const samples = {
      generatedSamples: [{ video: { uri: 'https://example.com/a' } }],
      raiMediaFilteredCount: 1,
    }

    expect(readOperation(finished(samples))).toMatchObject({
      outcome: 'finished',
      result: { outputs: [{ from: 'url', url: 'https://example.com/a' }] },
    })
  })

  test('a failed job has the name of its code', () => {
    expect(readOperation(answered(fixture('failed')))).toEqual({
      outcome: 'failed',
      code: 'INTERNAL',
      message: 'Video generation failed because of an internal error.',
    })
  })

  test.each([7, 8, 16])("a job that failed with the operator's code %d does not repeat the text", code => {
    const body = { name: NAME, done: true, error: { code, message: 'Enable billing for project 7.' } }

    const outcome = readOperation(answered(JSON.stringify(body)))

    expect(outcome).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test.each([[{}], [{ done: false }], [{ metadata: {} }]])('an answer with %j is of a running job', state => {
    expect(readOperation(answered(JSON.stringify({ name: NAME, ...state })))).toEqual({
      outcome: 'running',
      upstreamStatus: 'running',
      isKnownStatus: true,
    })
  })

  test.each([[{ done: true }], [{ done: true, response: {} }], [{ done: 'yes' }], [{ done: 1, error: {} }]])(
    'an answer with %j is of a job that runs under an unknown status',
    state => {
      expect(readOperation(answered(JSON.stringify({ name: NAME, ...state })))).toMatchObject({
        outcome: 'running',
        isKnownStatus: false,
      })
    },
  )

  test.each([
    [{}],
    [{ generatedSamples: null }],
    [{ generatedSamples: [] }],
    [
      {
        generatedSamples: [{}, null, { video: {} }, { video: { uri: '' } }, { video: { encodedVideo: '%' } }],
      },
    ],
    [{ raiMediaFilteredCount: 0 }],
  ])('a job that succeeded with %j has no outputs', response => {
    expect(readOperation(finished(response))).toMatchObject({ outcome: 'finished', result: { outputs: [] } })
  })

  test.each([
    [401, fixture('permission-denied')],
    [403, ''],
    [404, '<html>'],
    [429, fixture('quota-of-minute')],
    [503, fixture('unavailable')],
    [500, fixture('finished')],
    [200, '<html>'],
    [200, ''],
    [200, '{}'],
    [302, fixture('finished')],
  ])('a poll answered with status %d and %j is unavailable', (status, body) => {
    expect(readOperation(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })
})

describe('the link of a clip', () => {
  const link = (url: string, key: string | null = OWN.key) => withKey({ from: 'url', url }, { ...OWN, key })

  test('the link of a clip on the host of the API gets the key, for this host only', () => {
    const url = 'https://generativelanguage.googleapis.com/v1beta/files/a:download?alt=media'

    expect(link(url)).toEqual({
      from: 'url',
      url,
      authorization: { hosts: ['generativelanguage.googleapis.com'], headers: { 'x-goog-api-key': 'key-1' } },
    })
  })

  test.each(['files/a', 'files/a:download', 'files/a:download?alt=json'])(
    'the link of a clip asks for the bytes and not for the description: %s',
    path => {
      const output = link(`https://generativelanguage.googleapis.com/v1beta/${path}`)

      expect(output).toMatchObject({
        url: 'https://generativelanguage.googleapis.com/v1beta/files/a:download?alt=media',
      })
    },
  )

  test.each([
    'https://storage.example.com/files/a',
    'http://generativelanguage.googleapis.com/v1beta/files/a',
    'https://generativelanguage.googleapis.com:8443/v1beta/files/a',
    'https://generativelanguage.googleapis.com@example.com/files/a',
    '/v1beta/files/a',
    'data:video/mp4;base64,AAAA',
  ])('a link to another place is left as it is, without the key: %s', url => {
    expect(link(url)).toEqual({ from: 'url', url })
  })

  test('the link of a provider without a key has no headers', () => {
    const url = 'https://generativelanguage.googleapis.com/v1beta/files/a:download?alt=media'

    expect(link(url, null)).toEqual({ from: 'url', url })
  })
})

function finished(generateVideoResponse: object): MediaAnswer {
  return answered(JSON.stringify({ name: NAME, done: true, response: { generateVideoResponse } }))
}
