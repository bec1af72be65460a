import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { rejection } from '../../support/rejection.ts'
import { aClip, RUNNING } from '../../support/scripted-media.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { startScriptedVideos, videoModel } from '../gateways/video-gateway.ts'

let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
let ada: TestAccount

beforeAll(async () => {
  gateway = await startScriptedVideos({
    providers: [{ id: 'other', kind: 'sandbox' }],
    models: [
      videoModel('pinned', { engine: 'family-e', fixed_params: { duration: 6 } }),
      videoModel('held', { hold_duration_seconds: 10 }),
      videoModel('elsewhere', {
        engine: 'family-a-extend',
        upstreams: [{ provider: 'other', model: 'video' }],
      }),
      videoModel('both', {
        engine: 'family-a-extend',
        upstreams: [
          { provider: 'other', model: 'there', order: 1 },
          { provider: 'box', model: 'here', order: 2 },
        ],
      }),
    ],
  })
  ada = await gateway.account({ grant: '10000' })
})
afterAll(() => gateway.stop())

const VIDEO = 'AAAA-video-uuid-0001'

/** What the provider and the client get for a job. */
async function createdJob(body: object) {
  const { id, estimated_cost_usd: held } = await gateway.accepted(ada.key, {
    prompt: 'A',
    video: VIDEO,
    ...body,
  })
  const submit = gateway.media.submits.at(-1)!
  expect(submit.jobId).toBe(id)
  return { seconds: submit.durationMs! / 1000, held, submit }
}

const refused = async (body: object) =>
  refusalOf(await gateway.create(ada.key, { prompt: 'A', video: VIDEO, ...body }))

/** Family, the durations that pass, those that do not, and how the error lists what is allowed. */
const table: readonly [
  engine: string,
  allowed: readonly number[],
  refused: readonly number[],
  listed: string,
][] = [
  ['family-a', [4, 4.5, 15], [3.9, 15.1, 0, -4], '4 to 15'],
  ['family-a-extend', [4, 15], [3, 16], '4 to 15'],
  ['family-b', [3, 7.25, 15], [2, 16], '3 to 15'],
  ['family-b-edit', [3, 10], [2, 11], '3 to 10'],
  ['family-b-motion', [3, 10], [2, 11], '3 to 10'],
  ['family-c', [5, 10], [4, 6, 7.5, 15], '5 or 10'],
  ['family-d-5', [5], [4, 10], '5'],
  ['family-d-10', [10], [5, 9], '10'],
  ['family-e', [4, 6, 8], [5, 10], '4, 6 or 8'],
  ['family-e-extend', [8], [4, 6], '8'],
  ['family-g', [6], [5, 7], '6'],
  ['family-g-extend', [6], [5, 8], '6'],
  ['storyboard', [6, 12.5, 30], [5, 31], '6 to 30'],
]

describe.each(table)('allowed durations: %s', (model, allowed, others, listed) => {
  test.each([...allowed])('%p seconds reach the provider, and are held for', async duration => {
    const { seconds, held } = await createdJob({ model, duration })

    expect([seconds, Number(held) * 10]).toEqual([duration, duration])
  })

  test.each([...others])(`%p seconds are 400, which lists ${listed}`, async duration => {
    const { status, message, param } = await refused({ model, duration })

    expect([status, param]).toEqual([400, 'duration'])
    expect(message).toContain(` ${listed} seconds`)
  })
})

test.each([
  ['family-a', 5, 15],
  ['family-a-extend', 5, 15],
  ['family-b', 5, 15],
  ['family-b-edit', 5, 10],
  ['family-b-motion', 5, 10],
  ['family-c', 5, 10],
  ['family-d-5', 5, 5],
  ['family-d-10', 10, 10],
  ['family-e', 8, 8],
  ['family-e-extend', 8, 8],
  ['family-g', 6, 6],
  ['family-g-extend', 6, 6],
  ['storyboard', 6, 30],
  ['held', 5, 10],
])('rule 6: without a duration, %s gets %d s, and %d s are held for', async (model, seconds, held) => {
  const job = await createdJob({ model })

  expect([job.seconds, Number(job.held) * 10]).toEqual([seconds, held])
})

test('family F: each row is pinned to 4, 6, 8 or 10 seconds; one that is not cannot be saved', async () => {
  const { seconds, held } = await createdJob({ model: 'family-f' })
  const row = videoModel('unpinned', { engine: 'family-f' })

  expect([seconds, held]).toEqual([8, '0.8'])
  expect(String(await rejection(gateway.admin('PUT', 'models/unpinned', row)))).toContain('duration')
})

describe('a duration', () => {
  test('null counts as absent', async () => {
    expect((await createdJob({ model: 'family-a', duration: null })).seconds).toBe(5)
  })

  test('a numeric string is a number', async () => {
    expect((await createdJob({ model: 'family-a', duration: '7.5' })).seconds).toBe(7.5)
  })

  test('seconds is an alias', async () => {
    expect((await createdJob({ model: 'family-a', seconds: '8' })).seconds).toBe(8)
    expect(await refused({ model: 'family-a', seconds: 3 })).toMatchObject({ status: 400, param: 'seconds' })
  })

  test('when both are sent, duration wins', async () => {
    expect((await createdJob({ model: 'family-a', duration: 6, seconds: 9 })).seconds).toBe(6)
    expect((await createdJob({ model: 'family-a', duration: 6, seconds: 99 })).seconds).toBe(6)
  })

  test.each([
    ['text', 'long'],
    ['an empty text', ''],
    ['a boolean', true],
    ['an array', [5]],
    ['an object', { s: 5 }],
  ])('a duration that is %s is 400, which lists what is allowed', async (_, duration) => {
    const { status, message } = await refused({ model: 'family-c', duration })

    expect(status).toBe(400)
    expect(message).toContain('5 or 10')
  })

  test("a duration is allowed in the engine's set even if the row holds for less", async () => {
    expect((await createdJob({ model: 'held', duration: 15 })).held).toBe('1.5')
  })
})

describe('rule 5: a row that pins the duration', () => {
  test('a row that pins the duration gets it to the provider, and reserves it', async () => {
    const { seconds, held } = await createdJob({ model: 'pinned' })

    expect([seconds, held]).toEqual([6, '0.6'])
  })

  test('a row that pins the duration ignores a passed duration', async () => {
    const { seconds, held, submit } = await createdJob({ model: 'pinned', duration: 8 })

    expect([seconds, held]).toEqual([6, '0.6'])
    expect(submit.params).not.toHaveProperty('duration')
  })

  test('a row that pins the duration checks a passed duration against its engine', async () => {
    expect(await refused({ model: 'pinned', duration: 5 })).toMatchObject({ status: 400, param: 'duration' })
  })
})

describe('a required input video', () => {
  test.each(['family-a-extend', 'family-b-edit', 'family-b-motion', 'family-e-extend', 'family-g-extend'])(
    '%s answers 400 before the provider if it is missing',
    async model => {
      const before = gateway.media.submits.length

      const refusal = await refused({ model, video: undefined })

      expect(refusal).toMatchObject({ status: 400, param: 'video' })
      expect(gateway.media.submits).toHaveLength(before)
    },
  )

  test.each([
    'family-a',
    'family-b',
    'family-c',
    'family-d-5',
    'family-e',
    'family-f',
    'family-g',
    'storyboard',
  ])('%s needs none', async model => {
    expect((await createdJob({ model, video: undefined })).submit.videos).toEqual([])
  })

  test('an input image is not one', async () => {
    expect(await refused({ model: 'family-b-motion', video: undefined, image: VIDEO })).toMatchObject({
      status: 400,
    })
  })

  test('inputs that the engine does not expect are still passed to the provider', async () => {
    const { submit } = await createdJob({ model: 'family-a', image: 'image-uuid-1' })

    expect(submit.videos).toEqual([{ from: 'provider_id', id: VIDEO }])
    expect(submit.images).toEqual([{ from: 'provider_id', id: 'image-uuid-1' }])
  })
})

describe('ref_video_job_id', () => {
  /** The id of a finished job, and its id at the provider. */
  async function finishedJob(key = ada.key) {
    const { id } = await gateway.accepted(key, { model: 'family-a', prompt: 'A' })
    const upstreamId = `upstream-${gateway.media.submits.length}`
    gateway.media.polled = aClip({ durationMs: 5000 })
    await gateway.poll(key, id)
    gateway.media.polled = RUNNING
    return { id, upstreamId }
  }

  test("ref_video_job_id sends the provider's id of the caller's own earlier job, which counts as the input video", async () => {
    const { id, upstreamId } = await finishedJob()

    const { submit } = await createdJob({ model: 'family-a-extend', video: undefined, ref_video_job_id: id })

    expect(submit.refUpstreamId).toBe(upstreamId)
  })

  test("ref_video_job_id of a job that does not exist, is another account's, or is not an id is 404 (rule 4)", async () => {
    const eve = await gateway.account({ grant: '10' })
    const { id } = await finishedJob(eve.key)
    const ids = [id, 'vid_00000000000000000000000000', 'img_00000000000000000000000000', 'x']

    for (const ref of ids) {
      const refusal = await refused({ model: 'family-a-extend', ref_video_job_id: ref })
      expect(refusal).toMatchObject({ status: 404, code: 'not_found', type: 'not_found_error' })
    }
  })

  test('ref_video_job_id of a job that is not finished is 400 ref_video_not_ready', async () => {
    const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A' })

    const refusal = await refused({ model: 'family-a-extend', ref_video_job_id: id })

    expect(refusal).toMatchObject({ status: 400, code: 'ref_video_not_ready', param: 'ref_video_job_id' })
  })

  test('ref_video_job_id of a job that failed is 400 ref_video_not_ready', async () => {
    const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A' })
    gateway.media.polled = { outcome: 'failed', message: 'No.' }
    await gateway.poll(ada.key, id)
    gateway.media.polled = RUNNING

    const refusal = await refused({ model: 'family-a-extend', ref_video_job_id: id })

    expect(refusal).toMatchObject({ status: 400, code: 'ref_video_not_ready' })
    expect(refusal.message).toContain('failed')
  })

  test('ref_video_job_id of a job of another provider is 400 ref_video_mismatch', async () => {
    const { id } = await finishedJob()

    const refusal = await refused({ model: 'elsewhere', ref_video_job_id: id })

    expect(refusal).toMatchObject({ status: 400, code: 'ref_video_mismatch', param: 'ref_video_job_id' })
  })

  test('ref_video_job_id of a job that its provider finished at once, without an id, is 400 ref_video_mismatch', async () => {
    const clip = aClip({ durationMs: 5000 }) as Extract<ReturnType<typeof aClip>, { outcome: 'finished' }>
    gateway.media.submitted = clip
    const made = await gateway.create(ada.key, { model: 'family-a', prompt: 'A' })
    gateway.media.submitted = undefined
    const { id, status } = (await made.json()) as { id: string; status: string }

    const refusal = await refused({ model: 'family-a-extend', ref_video_job_id: id })

    expect([made.status, status]).toEqual([200, 'completed'])
    expect(refusal).toMatchObject({ status: 400, code: 'ref_video_mismatch' })
  })

  test('ref_video_job_id chooses the upstream that made the earlier job', async () => {
    const { id, upstreamId } = await finishedJob()

    const { submit } = await createdJob({ model: 'both', ref_video_job_id: id })

    expect(submit).toMatchObject({ model: 'here', refUpstreamId: upstreamId })
    expect(submit.provider.id).toBe('box')
  })
})

describe('scenes', () => {
  test.each<[unknown]>([
    ['one scene'],
    [['first', 'second']],
    [[{ prompt: 'A bay', seconds: 3.5, cuts: [null, false] }, 1, 'second', null, ['nested']]],
    [{ first: { from: 'url', url: 'https://example.com/a.png' } }],
    [7],
    [false],
    [''],
  ])('the scenes %j reach a storyboard engine as they came', async scenes => {
    expect((await createdJob({ model: 'storyboard', scenes })).submit.scenes).toEqual(scenes)
  })

  test('scenes that are null count as absent', async () => {
    const { submit } = await createdJob({ model: 'storyboard', scenes: null })

    expect(submit).not.toHaveProperty('scenes')
  })

  test('scenes are not sent to other engines', async () => {
    expect((await createdJob({ model: 'family-a', scenes: ['first'] })).submit).not.toHaveProperty('scenes')
  })
})
