import fc from 'fast-check'
import { describe, expect, test } from 'bun:test'
import type { SubmitCall } from '../../gateway/ports/providers/media-provider.ts'
import { joinedBody } from '../media/request-bodies.ts'
import type { MediaAnswer } from '../media/media-http.ts'
import { readSubmitted, readTask, submitBody } from './wire.ts'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { fixturesOf } from '../../../test/support/fixture.ts'
import { aSubmitCall, bytesInput } from '../../../test/support/media-calls.ts'
import { mediaProviderRow } from '../../../test/support/media-providers.ts'

const row = mediaProviderRow('seedance', 'http://127.0.0.1')
const bytes = bytesInput(new Uint8Array([1, 2, 3]), 'image/webp')
const link = { from: 'url', url: 'https://example.com/a.png' } as const
const id = { from: 'provider_id', id: 'asset-123' } as const

const aCall = (change: Partial<SubmitCall>) =>
  aSubmitCall(row, { kind: 'video', model: 'seedance-2-0', ...change })

async function bodyOf(change: Partial<SubmitCall>): Promise<Record<string, unknown>> {
  const body = submitBody(aCall(change))
  if ('refusal' in body) throw new Error(body.refusal)
  return JSON.parse((await bytesOf(joinedBody(body).stream)).toString()) as Record<string, unknown>
}

async function textOf(change: Partial<SubmitCall>): Promise<unknown> {
  const [text] = (await bodyOf(change))['content'] as { text: string }[]
  return text?.text
}

describe('a submission', () => {
  test('a submission has the prompt in the list of contents, and the parameters beside it', async () => {
    const params = {
      aspect_ratio: '16:9',
      resolution: '720p',
      generate_audio: true,
      callback_url: 'x',
      execution_expires_after: 1,
      frames: 29,
    }

    expect(await bodyOf({ params, durationMs: 5000, count: 4 })).toEqual({
      model: 'seedance-2-0',
      content: [{ type: 'text', text: 'A lighthouse at dawn' }],
      ratio: '16:9',
      resolution: '720p',
      generate_audio: true,
      duration: 5,
    })
  })

  test('a submission has the first and the last frame as a data URL, a link or an id', async () => {
    expect(await bodyOf({ images: [bytes, link], videos: [id] })).toMatchObject({
      content: [
        { type: 'text' },
        { type: 'image_url', image_url: { url: 'data:image/webp;base64,AQID' }, role: 'first_frame' },
        { type: 'image_url', image_url: { url: link.url }, role: 'last_frame' },
        { type: 'video_url', video_url: { url: 'asset-123' }, role: 'reference_video' },
      ],
    })
  })

  test.each([
    [[bytes, link, id], {}],
    [[link], { image_role: 'reference' }],
  ])('a submission has more images, or all with the role, as references', async (images, params) => {
    const body = await bodyOf({ images, params })

    const [, ...others] = body['content'] as { role: string }[]
    expect(new Set(others.map(({ role }) => role))).toEqual(new Set(['reference_image']))
    expect(body).not.toHaveProperty('image_role')
  })

  test('a submission to a model of the first version has the fields as commands behind the prompt', async () => {
    const params = { aspect_ratio: '16:9', resolution: '720p', camera_fixed: false, service_tier: 'flex' }

    expect(await bodyOf({ model: 'seedance-1-0-lite-t2v-250428', params, durationMs: 5000 })).toEqual({
      model: 'seedance-1-0-lite-t2v-250428',
      content: [
        {
          type: 'text',
          text: 'A lighthouse at dawn --resolution 720p --ratio 16:9 --duration 5 --camerafixed false',
        },
      ],
      service_tier: 'flex',
    })
  })

  test.each([
    ['A bay --duration 12', 'A bay -duration 12'],
    ['A bay ---seed x-dur 12', 'A bay -seed x-dur 12'],
    ['--RATIO 9:16 A bay --dur12 --rs1080p', '-RATIO 9:16 A bay -dur12 -rs1080p'],
    ['A bay -- and fog ', 'A bay - and fog '],
  ])('a submission to a model that reads commands has none of the client: %j', async (prompt, sent) => {
    expect(await textOf({ prompt, model: 'ep-20250101-abcde' })).toBe(sent)
    expect(await textOf({ prompt, model: 'seedance-1-5-pro' })).toBe(sent)
    expect(await textOf({ prompt, model: 'seedance-1-0-pro', durationMs: 5000 })).toBe(`${sent} --duration 5`)
  })

  test('a submission to a model that reads commands has no command of the client for any prompt', async () => {
    const pieces = fc.constantFrom('-', '--', '---', 'dur', 'rs', 'seed', '12', '1080p', ' ', '\t', 'x')
    const prompts = fc.array(pieces, { maxLength: 12 }).map(texts => texts.join(''))

    await fc.assert(
      fc.asyncProperty(prompts, async prompt => {
        expect(await textOf({ prompt, model: 'ep-1' })).not.toContain('--')
        const text = await textOf({ prompt, model: 'seedance-1-0-pro', durationMs: 5000 })
        expect(String(text).split('--')).toEqual([expect.any(String), 'duration 5'])
      }),
    )
  })

  test('a submission to a model that reads no commands has the prompt as it is', async () => {
    const prompt = ' A bay --duration 12 -- and fog '

    expect(await textOf({ prompt, model: 'doubao-seedance-2-0-260128' })).toBe(prompt)
  })

  test('a submission with scenes is refused', () => {
    expect(submitBody(aCall({ scenes: 'one' }))).toEqual({ refusal: expect.any(String) })
  })
})

const fixture = fixturesOf(import.meta)

function answered(body: string, status = 200): MediaAnswer {
  return { status, body }
}

describe('the answer to a submission', () => {
  test('a submission answered with an id is an accepted job', () => {
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
  ])('a submission answered with status %d like %s is rejected as %s', (status, name, reason, code) => {
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
  ])("a submission answered with the code %s is the operator's trouble", (code, status) => {
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
  ])('a submission answered with status %d without an error in it is rejected as %s', (status, reason) => {
    const outcome = readSubmitted({ ...answered('<html>', status), retryAfterS: 9 })

    expect(outcome).toMatchObject({ outcome: 'rejected', reason, status, retryAfterS: 9 })
    expect(outcome).not.toHaveProperty('code')
  })

  test.each([
    [500, fixture('created')],
    [502, '<html>'],
    [504, ''],
    [500, fixture('server-error')],
  ])('a submission answered with status %d and %j is unknown', (status, body) => {
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
  test('a finished job has the link and the duration', () => {
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
  ])('a finished job with %j has %j milliseconds', (length, durationMs) => {
    const outcome = readTask(answered(JSON.stringify({ status: 'succeeded', ...length })))

    expect(outcome.outcome === 'finished' && outcome.result.durationMs).toBe(durationMs as number)
  })

  test('a failed job has the code and the message', () => {
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
  ])('a job that ended without a reason for the client has a default message: %s', body => {
    expect(readTask(answered(body))).toEqual({
      outcome: 'failed',
      message: 'The provider could not make the result and did not say why.',
    })
  })

  test.each([
    ['queued', true],
    ['running', true],
    ['paused', false],
  ])('a job with the status %s is running, and known: %j', (status, isKnownStatus) => {
    expect(readTask(answered(JSON.stringify({ status })))).toEqual({
      outcome: 'running',
      upstreamStatus: status,
      isKnownStatus,
    })
  })

  test('a job that succeeded without a link has no outputs', () => {
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
  ])('a poll answered with status %d and %j is unavailable', (status, body) => {
    expect(readTask(answered(body, status))).toMatchObject({ outcome: 'unavailable' })
  })
})
