import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip } from '../../support/scripted-media.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { shapedModel, startScriptedVideos, type VideoBody } from '../gateways/video-gateway.ts'

type Video = VideoBody & {
  readonly prompt?: string
  readonly completed_at?: number | null
  readonly expires_at?: number | null
}
type VideoList = {
  readonly data: readonly Video[]
  readonly first_id: string | null
  readonly last_id: string | null
  readonly has_more: boolean
}

let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
let ada: TestAccount
let bob: TestAccount

async function start(setting: 'on' | 'off'): Promise<void> {
  gateway = await startScriptedVideos({
    models: [shapedModel],
    environment: { TOLLGATE_OPENAI_MEDIA: setting, TOLLGATE_VIDEO_RETENTION_DAYS: '1' },
  })
  ada = await gateway.account({ grant: '10' })
  bob = await gateway.account({ grant: '10' })
}
afterEach(() => gateway.stop())

const body = { model: 'family-a', prompt: 'A bay', seconds: '5' }

async function created(change: object = {}): Promise<Video> {
  return gateway.accepted(ada.key, { ...body, ...change })
}

async function finished(): Promise<Video> {
  const { id } = await created()
  gateway.media.polled = aClip()
  return gateway.poll(ada.key, id)
}

async function list(query = '', key = ada.key): Promise<VideoList> {
  return (await (await gateway.get(key, `/v1/videos${query}`)).json()) as VideoList
}

function remove(id: string, key = ada.key): Promise<Response> {
  return gateway.get(key, `/v1/videos/${id}`, { method: 'DELETE' })
}

/** The names of the stored files, also of those in the archive. */
function storedFiles(): readonly string[] {
  const files = readdirSync(join(gateway.dataDir, 'blobs'), { recursive: true }) as string[]
  return files.filter(name => /out-\d+$/.test(name))
}

describe('with TOLLGATE_OPENAI_MEDIA=off', () => {
  beforeEach(() => start('off'))

  test('videos have the fields and the states of the contract', async () => {
    const first = await created()
    const last = await finished()

    expect<object>(first).toEqual({
      id: expect.stringMatching(/^vid_/) as string,
      status: 'processing',
      model: 'family-a',
      created: expect.any(Number) as number,
      estimated_cost_usd: '0.5',
    })
    expect(last).not.toHaveProperty('object')
  })

  test('videos cannot be listed or deleted, and `variant` is ignored', async () => {
    const { id } = await finished()

    expect((await gateway.get(ada.key, '/v1/videos')).status).toBe(405)
    expect((await remove(id)).status).toBe(405)
    expect((await gateway.get(ada.key, `/v1/videos/${id}/content?variant=thumbnail`)).status).toBe(200)
  })
})

describe('with TOLLGATE_OPENAI_MEDIA=on', () => {
  beforeEach(() => start('on'))

  test('a video that runs has the fields and the state of the OpenAI SDKs, and its reserve', async () => {
    const video = await created()

    expect<object>(video).toEqual({
      id: expect.stringMatching(/^vid_/) as string,
      object: 'video',
      model: 'family-a',
      status: 'in_progress',
      progress: 0,
      created_at: expect.any(Number) as number,
      completed_at: null,
      expires_at: null,
      prompt: 'A bay',
      seconds: '5',
      size: null,
      remixed_from_video_id: null,
      error: null,
      estimated_cost_usd: '0.5',
    })
  })

  test('a completed video has its charge, its link and its end', async () => {
    const video = await finished()

    expect(video).toMatchObject({ status: 'completed', progress: 100, seconds: '5', cost_usd: '0.5' })
    expect(video.data).toEqual([{ url: `${gateway.url}/v1/videos/${video.id}/content` }])
    expect(Number(video.expires_at) - Number(video.completed_at)).toBe(86_400)
  })

  test('a failed video has the code of its error and costs nothing', async () => {
    const { id } = await created()
    gateway.media.polled = { outcome: 'failed', code: 'UNSAFE', message: 'No.' }

    const video = await gateway.poll(ada.key, id)

    expect(video).toMatchObject({ status: 'failed', cost_usd: '0', error: { code: 'UNSAFE' } })
  })

  test('a video whose submission is unconfirmed is shown as in progress', async () => {
    gateway.media.submitted = { outcome: 'unknown', problem: 'cut' }
    const response = await gateway.create(ada.key, body)
    const { id } = (await response.json()) as Video

    const video = await gateway.poll(ada.key, id)

    expect(response.status).toBe(502)
    expect(video).toMatchObject({ status: 'in_progress', estimated_cost_usd: '0.5' })
  })

  test('the size of a video reaches the provider as an aspect ratio', async () => {
    await created({ model: 'shaped', size: '720x1280' })

    expect(gateway.media.submits[0]?.params).toEqual({ aspect_ratio: '9:16' })
  })

  test('a size that the video model does not make is refused', async () => {
    const response = await gateway.create(ada.key, { ...body, model: 'shaped', size: '1000x200' })

    expect(await refusalOf(response)).toMatchObject({ status: 400, param: 'size' })
  })

  test('the list has the videos of the account, the newest first, a page at a time', async () => {
    const [first, second, third] = [await created(), await created(), await created()]
    await gateway.create(bob.key, body)

    const page = await list('?limit=2')
    const rest = await list(`?limit=2&after=${page.last_id}`)

    expect(page.data.map(({ id }) => id)).toEqual([third.id, second.id])
    expect(page).toMatchObject({ first_id: third.id, last_id: second.id, has_more: true })
    expect(rest.data.map(({ id }) => id)).toEqual([first.id])
    expect(rest.has_more).toBe(false)
  })

  test('the list shows the beginning of a long prompt, and the reply about one video shows all of it', async () => {
    const prompt = `${'a bay, '.repeat(400)}at dawn`
    const { id } = await created({ prompt })

    const listed = (await list()).data[0]
    const whole = (await (await gateway.get(ada.key, `/v1/videos/${id}`)).json()) as Video

    expect(listed?.prompt).toBe(`${prompt.slice(0, 2000)}…`)
    expect(whole.prompt).toBe(prompt)
  })

  test('the list can be read from the oldest video on', async () => {
    const [first, second, third] = [await created(), await created(), await created()]

    const page = await list('?order=asc&limit=1')
    const rest = await list(`?order=asc&after=${page.last_id}`)

    expect(page.data.map(({ id }) => id)).toEqual([first.id])
    expect(rest.data.map(({ id }) => id)).toEqual([second.id, third.id])
  })

  test('the list of an account without videos is empty', async () => {
    expect(await list('', bob.key)).toEqual({
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
      object: 'list',
    } as VideoList)
  })

  test.each([['limit=0'], ['limit=101'], ['limit=x'], ['order=up'], ['page=2']])(
    'the list refuses the parameter %s',
    async query => {
      const response = await gateway.get(ada.key, `/v1/videos?${query}`)

      expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'invalid_field' })
    },
  )

  test('the list does not continue behind a video of another account', async () => {
    const { id } = await created()

    const response = await gateway.get(bob.key, `/v1/videos?after=${id}`)

    expect(await refusalOf(response)).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('deleting a video removes its clip, and its job and its charge stay', async () => {
    const { id } = await finished()
    const before = storedFiles()

    const response = await remove(id)

    const video = await (await gateway.get(ada.key, `/v1/videos/${id}`)).json()
    const content = await gateway.get(ada.key, `/v1/videos/${id}/content`)
    expect(await response.json()).toEqual({ id, object: 'video.deleted', deleted: true })
    expect([before.length, storedFiles().length]).toEqual([1, 0])
    expect(video).toMatchObject({ status: 'completed', cost_usd: '0.5', data: [], archived: true })
    expect(await refusalOf(content)).toMatchObject({ status: 410, code: 'content_archived' })
    expect(await gateway.money(ada)).toEqual({ available: '9.5', held: '0' })
    expect(await gateway.admin('POST', 'verify')).toMatchObject({ ok: true })
  })

  test('a video can be deleted again', async () => {
    const { id } = await finished()
    await remove(id)

    expect((await remove(id)).status).toBe(200)
  })

  test('a video that runs cannot be deleted, and its money stays held', async () => {
    const { id } = await created()

    const response = await remove(id)

    expect(await refusalOf(response)).toMatchObject({ status: 409, code: 'video_not_ready' })
    expect(await gateway.money(ada)).toEqual({ available: '9.5', held: '0.5' })
  })

  test('a video of another account cannot be deleted', async () => {
    const { id } = await finished()

    expect(await refusalOf(await remove(id, bob.key))).toMatchObject({ status: 404, code: 'not_found' })
    expect(storedFiles()).toHaveLength(1)
  })

  test('only the clip of a video can be downloaded, not a thumbnail', async () => {
    const { id } = await finished()
    const content = (query: string) => gateway.get(ada.key, `/v1/videos/${id}/content${query}`)

    expect(await refusalOf(await content('?variant=thumbnail'))).toMatchObject({
      status: 400,
      param: 'variant',
    })
    expect((await content('?variant=video')).status).toBe(200)
    expect((await content('')).status).toBe(200)
  })
})
