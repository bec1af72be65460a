import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { aClip, RUNNING, type ScriptedMedia } from '../../support/scripted-media.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { tinyMp4 } from '../../support/tiny-mp4.ts'
import {
  startScriptedVideos,
  videoModel,
  type VideoBody,
  type VideoGateway,
} from '../gateways/video-gateway.ts'

/** A provider that continues a clip, and not its own job, for all models but `by-id`. */
const HOUR_MS = 3_600_000
const CLIP = tinyMp4(5000)
const EXTEND = 'family-a-extend'

let gateway: VideoGateway & { readonly media: ScriptedMedia }
let ada: TestAccount
beforeAll(async () => {
  gateway = await startScriptedVideos({
    models: [videoModel('by-id', { upstreams: [{ provider: 'box', model: 'by-id' }] })],
    environment: { TOLLGATE_OPENAI_MEDIA: 'on', TOLLGATE_RECONCILE_EVERY_S: '86400' },
  })
  gateway.media.continuesFrom = ({ model }) =>
    model === 'by-id' ? { from: 'id' } : { from: 'clip', linkTtlMs: HOUR_MS }
})
beforeEach(async () => {
  ada = await gateway.account({ grant: '10' })
})
afterEach(() => {
  gateway.media.polled = RUNNING
  gateway.media.submitted = undefined
})
afterAll(() => gateway.stop())

/** The id of a finished job with a clip. */
async function finishedJob(key = ada.key, model = 'family-a'): Promise<string> {
  const { id } = await gateway.accepted(key, { model, prompt: 'A' })
  gateway.media.polled = aClip({ bytes: CLIP, durationMs: 5000 })
  await gateway.poll(key, id)
  gateway.media.polled = RUNNING
  return id
}

function extend(ref: string, change: object = {}): Promise<Response> {
  return gateway.create(ada.key, { model: EXTEND, prompt: 'B', ref_video_job_id: ref, ...change })
}

async function submitted(ref: string, change: object = {}) {
  const response = await extend(ref, change)
  expect(response.status).toBe(202)
  return gateway.media.submits.at(-1)!
}

const clipInput = { from: 'bytes', mediaType: 'video/mp4', content: Buffer.from(CLIP) } as const

describe('a provider that cannot continue its own job', () => {
  test('a job that continues an earlier one sends the clip of that job as its first video', async () => {
    const id = await finishedJob()

    const submit = await submitted(id, { video: 'c558a44c-video' })

    expect(submit.videos).toEqual([clipInput, { from: 'provider_id', id: 'c558a44c-video' }])
    expect(submit).not.toHaveProperty('refUpstreamId')
    expect(submit).not.toHaveProperty('refJobId')
  })

  test("a job that continues a recent one sends the provider's own link of that clip", async () => {
    const id = await finishedJob()
    const link = { from: 'url', url: 'https://files.example.com/clip.mp4' } as const
    gateway.media.polled = { outcome: 'finished', result: { outputs: [link], isCounted: true } }

    expect((await submitted(id)).videos).toEqual([link])
  })

  test('a job that continues an older one sends the clip, because the link may have expired', async () => {
    const id = await finishedJob()
    gateway.clock.advance(HOUR_MS + 1)
    const polls = gateway.media.polls

    expect((await submitted(id)).videos).toEqual([clipInput])
    expect(gateway.media.polls).toBe(polls)
  })

  test.each([
    ['fails', { outcome: 'unavailable', problem: 'down' }],
    ['says that the job failed', { outcome: 'failed', message: 'No.' }],
    ['has the clip no more', { outcome: 'finished', result: { outputs: [], isCounted: true } }],
  ] as const)('a job sends the clip if the question for its link %s', async (_, outcome) => {
    const id = await finishedJob()
    gateway.media.polled = outcome

    expect((await submitted(id)).videos).toEqual([clipInput])
  })

  test('a job sends the clip of a job that its provider finished at once, without an id', async () => {
    gateway.media.submitted = aClip({ bytes: CLIP, durationMs: 5000 }) as never
    const { id } = (await (
      await gateway.create(ada.key, { model: 'family-a', prompt: 'A' })
    ).json()) as VideoBody
    gateway.media.submitted = undefined

    expect((await submitted(id)).videos).toEqual([clipInput])
  })

  test('the clip of an earlier job stays after the job that continues it has ended', async () => {
    const id = await finishedJob()
    await submitted(id)
    gateway.media.polled = { outcome: 'failed', message: 'No.' }
    const { id: second } = (await (await extend(id)).json()) as VideoBody
    await gateway.poll(ada.key, second)

    const content = await gateway.get(ada.key, `/v1/videos/${id}/content`)

    expect(new Uint8Array(await content.arrayBuffer())).toEqual(CLIP)
  })

  test('a clip that was deleted is 410 content_archived, and holds nothing', async () => {
    const id = await finishedJob()
    await gateway.get(ada.key, `/v1/videos/${id}`, { method: 'DELETE' })
    const [submits, money] = [gateway.media.submits.length, await gateway.money(ada)]

    const response = await extend(id)

    expect(response.status).toBe(410)
    expect(await response.json()).toMatchObject({
      error: { code: 'content_archived', param: 'ref_video_job_id', type: 'invalid_request_error' },
    })
    expect(gateway.media.submits).toHaveLength(submits)
    expect(await gateway.money(ada)).toEqual(money)
  })

  test("another account's clip is 404, before its provider is asked", async () => {
    const eve = await gateway.account({ grant: '10' })
    const id = await finishedJob(eve.key)
    const { polls, submits } = gateway.media
    const before = submits.length

    const response = await extend(id)

    expect(response.status).toBe(404)
    expect([gateway.media.polls, submits.length]).toEqual([polls, before])
  })
})

test('a provider that continues its own jobs gets its id, also if the clip was deleted', async () => {
  const id = await finishedJob(ada.key, 'by-id')
  const upstreamId = `upstream-${gateway.media.submits.length}`
  await gateway.get(ada.key, `/v1/videos/${id}`, { method: 'DELETE' })

  const submit = await submitted(id, { model: 'by-id' })

  expect(submit).toMatchObject({ refUpstreamId: upstreamId, videos: [] })
})
