import { describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'
import { fixtureText } from '../../../test/support/simulators/media/fixtures.ts'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { createOf, pathOf, readCreated, readPrediction } from './wire.ts'

const fixture = (name: string) => fixtureText('replicate', name)
const answered = (body: string, status = 200): MediaAnswer => ({
  status,
  contentType: 'application/json',
  body,
})
const link = (name: string) => ({ from: 'url', url: `https://example.com/${name}.png` }) as const

async function created(change: Partial<SubmitCall>) {
  const row = mediaProviderRow('replicate', 'https://api.replicate.com/v1')
  const { path, body } = createOf(aSubmitCall(row, { model: 'acme/paint', ...change }))
  if ('refusal' in body) throw new Error(body.refusal)
  const value = JSON.parse((await bytesOf(joinedBody(body).stream)).toString()) as Record<string, object>
  return { path, value, input: value['input'] }
}

describe('the create of a prediction', () => {
  test.each([
    ['black-forest-labs/flux-dev', '/predictions', 'black-forest-labs/flux-dev'],
    ['acme/paint:5c7d5dc6', '/predictions', 'acme/paint:5c7d5dc6'],
    ['5c7d5dc6dd8bf75c', '/predictions', '5c7d5dc6dd8bf75c'],
    ['deployments/acme/fast', '/deployments/acme/fast/predictions', undefined],
  ])('the create of a prediction of %s goes to %s', async (model, path, version) => {
    const { path: sentTo, value } = await created({ model })

    expect(sentTo).toBe(path)
    expect(value['version']).toEqual(version as never)
    expect(Object.keys(value)).toEqual(version === undefined ? ['input'] : ['version', 'input'])
  })

  test('the create of a prediction has the prompt, the parameters of the row, and the duration in seconds', async () => {
    const { input } = await created({ prompt: 'A bay', params: { aspect_ratio: '16:9' }, durationMs: 4500 })

    expect(input).toEqual({ prompt: 'A bay', aspect_ratio: '16:9', duration: 4.5 })
  })

  test.each(['prompt', 'duration', 'num_outputs', 'num_images', 'number_of_images'])(
    'the create of a prediction never has %s from the parameters',
    async name => {
      const { input } = await created({ params: { [name]: 'x' } })

      expect(Object.values(input as object)).not.toContain('x')
    },
  )

  const [one, two, three] = [link('1'), link('2'), link('3')]
  test.each([
    ['acme/paint', [one], { image: one.url }],
    ['bytedance/seedance-1-pro', [one, two], { image: one.url, last_frame_image: two.url }],
    ['google/nano-banana', [one], { image_input: [one.url] }],
    ['bytedance/seedream-4', [one, two], { image_input: [one.url, two.url] }],
    ['openai/gpt-image-1', [one], { input_images: [one.url] }],
    ['black-forest-labs/flux-kontext-pro', [one], { input_image: one.url }],
    ['kwaivgi/kling-v2.1', [one, two], { start_image: one.url, end_image: two.url }],
    ['minimax/hailuo-02', [one, two], { first_frame_image: one.url, last_frame_image: two.url }],
    ['openai/sora-2', [one], { input_reference: one.url }],
    ['openai/sora-2', [one, two], { images: [one.url, two.url] }],
    ['google/veo-3', [one, two], { image: one.url, last_frame: two.url }],
    ['acme/paint', [one, two, three], { images: [one.url, two.url, three.url] }],
  ])(
    'the create of a prediction of %s has its images under the names that the model reads',
    async (model, images, expected) => {
      const { input } = await created({ model, images, prompt: 'A bay' })

      expect(input).toEqual({ prompt: 'A bay', ...expected })
    },
  )

  test('the create of a prediction has its images under the name of the row, which is not sent itself', async () => {
    const params = { image_field: 'subjects[]' }

    expect((await created({ prompt: 'A bay', params, images: [one] })).input).toEqual({
      prompt: 'A bay',
      subjects: [one.url],
    })
  })

  test('the create of a prediction has bytes as data URLs', async () => {
    const { input } = await created({ images: [bytesInput(new Uint8Array([1, 2, 3]), 'image/webp')] })

    expect(input).toMatchObject({ image: 'data:image/webp;base64,AQID' })
  })

  test('the create of a prediction has one video, or a list of several', async () => {
    const videos = ['a', 'b'].map(id => ({ from: 'provider_id', id }) as const)

    expect((await created({ videos: [videos[0]!] })).input).toMatchObject({ video: 'a' })
    expect((await created({ videos })).input).toMatchObject({ video: ['a', 'b'] })
  })

  test.each([['one'], [['one', { seconds: 1.5 }]], [false]])(
    'the create of a prediction includes the scenes %j as they came',
    async scenes => {
      expect((await created({ scenes })).input).toMatchObject({ scenes })
    },
  )

  test('the create of a prediction of a query never adds a segment to a path', () => {
    expect(pathOf('a/../b?c')).toBe('/predictions/a%2F..%2Fb%3Fc')
  })
})

describe('the answer to a create', () => {
  test.each([200, 201, 202])('the answer to a create of status %d with an id is an accepted job', status => {
    expect(readCreated(answered(fixture('starting'), status))).toEqual({
      outcome: 'accepted',
      upstreamId: 'gm3qorzdhgbfurvjtvhg6dckhu',
    })
  })

  test.each([
    [401, 'unauthenticated', 'operator'],
    [402, 'insufficient-credit', 'operator'],
    [403, 'not-found', 'operator'],
    [429, 'throttled', 'rate_limited'],
    [422, 'input-validation-failed', 'invalid'],
    [404, 'not-found', 'invalid'],
    [408, 'not-found', 'invalid'],
    [409, 'not-found', 'invalid'],
    [302, 'starting', 'operator'],
  ])('the answer to a create of status %d like %s is rejected as %s', (status, name, reason) => {
    expect(readCreated(answered(fixture(name), status))).toMatchObject({
      outcome: 'rejected',
      reason,
      status,
    })
  })

  test('the answer to a create of a refusal says what the API says, and keeps the time to wait', () => {
    const refused = readCreated({ ...answered(fixture('throttled'), 429), retryAfterS: 30 })

    expect(refused).toMatchObject({ message: expect.stringContaining('throttled'), retryAfterS: 30 })
    expect(readCreated(answered(fixture('input-validation-failed'), 422))).toMatchObject({
      message: expect.stringContaining('prompt is required'),
    })
  })

  test.each([
    [500, fixture('starting')],
    [502, '<html>'],
    [504, ''],
  ])('the answer to a create of status %d with %j is unknown', (status, body) => {
    expect(readCreated(answered(body, status))).toEqual({ outcome: 'unknown', problem: `status ${status}` })
  })

  test.each([
    '',
    '<html>',
    '{"id":"gm3',
    '[]',
    '{}',
    '{"id":""}',
    '{"id":7}',
    '{"id":".."}',
    '{"id":"\\ud800"}',
  ])('%j names no job', body => {
    expect(readCreated(answered(body, 201))).toMatchObject({
      outcome: 'rejected',
      reason: 'no_id',
      status: 201,
    })
  })
})

describe('the answer to a query', () => {
  test.each(['starting', 'processing'])('the answer to a query of status %s is running', status => {
    expect(readPrediction(answered(fixture(status)))).toEqual({
      outcome: 'running',
      upstreamStatus: status,
      isKnownStatus: true,
    })
  })

  test.each(['dreaming', 'SUCCEEDED', 'cancelled'])(
    'the answer to a query of status %s is running, and not known',
    status => {
      expect(readPrediction(answered(JSON.stringify({ status })))).toEqual({
        outcome: 'running',
        upstreamStatus: status,
        isKnownStatus: false,
      })
    },
  )

  test.each([
    [
      'succeeded',
      ['https://replicate.delivery/xezq/a1/out-0.webp', 'https://replicate.delivery/xezq/a1/out-1.webp'],
    ],
    ['succeeded-video', ['https://replicate.delivery/xezq/a2/tmp.mp4']],
  ])('the answer to a query of %s has all links', (name, links) => {
    expect(readPrediction(answered(fixture(name)))).toEqual({
      outcome: 'finished',
      result: { outputs: links.map(url => ({ from: 'url', url })), isCounted: true },
    })
  })

  test('the answer to a query with an output of very many lists in each other has no links', () => {
    const output = `${'['.repeat(20_000)}"https://a.example/1"${']'.repeat(20_000)}`

    expect(readPrediction(answered(`{"status":"succeeded","output":${output}}`))).toMatchObject({
      outcome: 'finished',
      result: { outputs: [] },
    })
  })

  test.each([
    [{ video: 'https://a.example/1' }, ['https://a.example/1']],
    [{ image: 'preview', video: 'clip' }, ['clip']],
    [{ images: ['a', 'b'], image: 'a' }, ['a', 'b']],
    [{ video: null, image: 'a' }, ['a']],
    [
      { images: ['https://a.example/1', 'https://a.example/2'] },
      ['https://a.example/1', 'https://a.example/2'],
    ],
    [[{ url: 'https://a.example/1' }], ['https://a.example/1']],
    [{ output: { images: [{ url: 'https://a.example/1' }] } }, ['https://a.example/1']],
    [{ output: { output: { images: [{ url: 'https://a.example/1' }] } } }, []],
    ['/relative.png', ['/relative.png']],
    ['http://169.254.169.254/a', ['http://169.254.169.254/a']],
    ['', []],
    [[], []],
    [{}, []],
    [[null, 7, ''], []],
    [undefined, []],
    [null, []],
  ])('the answer to a query with the output %j has the links %j', (output, links) => {
    const outcome = readPrediction(answered(JSON.stringify({ status: 'succeeded', output })))

    expect(outcome).toMatchObject({ result: { outputs: links.map(url => ({ from: 'url', url })) } })
  })

  test('the answer to a query has the bytes of a data URL, and not those of a broken one', () => {
    const output = ['data:image/png;base64,AQID', 'data:image/png;base64,%']

    expect(readPrediction(answered(JSON.stringify({ status: 'succeeded', output })))).toMatchObject({
      result: { outputs: [{ from: 'bytes', bytes: new Uint8Array([1, 2, 3]) }] },
    })
  })

  test('the answer to a query of a success whose data was removed has a lost result, not an empty one', () => {
    expect(readPrediction(answered(fixture('data-removed')))).toEqual({
      outcome: 'finished',
      result: {
        outputs: [{ from: 'lost', problem: 'the provider has removed the result' }],
        isCounted: false,
      },
    })
  })

  test('the answer to a query of a failure has its message and the code in it', () => {
    expect(readPrediction(answered(fixture('failed')))).toEqual({
      outcome: 'failed',
      code: 'E005',
      message: expect.stringContaining('flagged as sensitive'),
    })
  })

  test.each([
    [
      { status: 'failed', error: 'Out of luck' },
      { outcome: 'failed', message: 'Out of luck' },
    ],
    [
      { status: 'failed', error: { detail: 'No' } },
      { outcome: 'failed', message: 'No' },
    ],
    [
      { status: 'failed', error: 'You have insufficient credit to run this model.' },
      { outcome: 'failed', message: 'The provider could not make the result and did not say why.' },
    ],
    [
      { status: 'failed', error: null },
      { outcome: 'failed', message: 'The provider could not make the result and did not say why.' },
    ],
  ])('%j is a failure', (prediction, outcome) => {
    expect(readPrediction(answered(JSON.stringify(prediction)))).toEqual(outcome as never)
  })

  test.each(['canceled', 'aborted'])(
    'the answer to a query of status %s is a failure with this code',
    name => {
      expect(readPrediction(answered(fixture(name)))).toMatchObject({ outcome: 'failed', code: name })
    },
  )

  test.each([
    [401, fixture('unauthenticated')],
    [402, fixture('insufficient-credit')],
    [404, fixture('not-found')],
    [429, fixture('throttled')],
    [500, fixture('succeeded')],
    [200, '<html>'],
    [200, ''],
    [200, '{}'],
    [200, '{"status":""}'],
    [302, fixture('succeeded')],
  ])('the answer to a query of HTTP status %d with %j is unavailable', (status, body) => {
    expect(readPrediction(answered(body, status))).toEqual({
      outcome: 'unavailable',
      problem: `status ${status}`,
    })
  })
})
