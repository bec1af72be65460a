import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { readMp4 } from '../../support/read-mp4.ts'
import { aClip, RUNNING } from '../../support/scripted-media.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { until } from '../../support/until.ts'
import {
  shapedModel,
  startScriptedVideos,
  startVideoGateway,
  videoModel,
  type VideoBody,
  type VideoGateway,
} from '../gateways/video-gateway.ts'

const MODEL = 'family-a'
/** An input that is already at the provider. */
const INPUT_ID = '0b5c0c7e-3f0a-4d2c-9d55-0a2f4b3f9a10'
/** Done when it is polled first. */
const QUICK = 'A lighthouse at dawn [sandbox delay_ms=0]'

describe('on the sandbox', () => {
  let gateway: VideoGateway
  let ada: TestAccount

  beforeAll(async () => {
    gateway = await startVideoGateway({
      providers: [{ id: 'texts', kind: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1' }],
      models: [
        shapedModel,
        videoModel('off', { enabled: false }),
        videoModel('film-free', { pricing: { per_second: '0' } }),
        videoModel('vendor/film', {}),
        videoModel('unserved', { upstreams: [{ provider: 'texts', model: 'film' }] }),
        {
          id: 'draw',
          kind: 'image',
          upstreams: [{ provider: 'box', model: 'image' }],
          pricing: { per_image: '1' },
        },
      ],
    })
    ada = await gateway.account({ grant: '1000' })
  })
  afterAll(() => gateway.stop())

  test.each([
    '/v1/videos',
    '/v1/video/generations',
    '/v1/videos/extend',
    '/v1/videos/storyboard',
    '/v1/videos?async=true',
  ])('POST %s creates a job of the engine that the model names', async path => {
    const body = await gateway.accepted(ada.key, { model: MODEL, prompt: QUICK }, { path })

    expect(body).toMatchObject({ status: 'processing', model: MODEL })
  })

  test('rule 7: the default reply is 202 with id, status, model, created and the reserve', async () => {
    const response = await gateway.create(ada.key, { model: MODEL, prompt: QUICK, duration: 6 })

    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^vid_[0-9a-z]{26}$/),
      status: 'processing',
      model: MODEL,
      created: Math.floor(gateway.clock.now() / 1000),
      estimated_cost_usd: '0.6',
    })
  })

  test('a finished job has its real duration, its cost and a link, and the balance moves by the cost', async () => {
    const bob = await gateway.account({ grant: '5' })
    const { id } = await gateway.accepted(bob.key, { model: MODEL, prompt: QUICK, duration: 4.5 })
    const whileRunning = await gateway.money(bob)

    const body = await gateway.poll(bob.key, id)

    expect(whileRunning).toEqual({ available: '4.55', held: '0.45' })
    expect(body).toEqual({
      id,
      status: 'completed',
      model: MODEL,
      created: expect.any(Number),
      duration: 4.5,
      cost_usd: '0.45',
      data: [{ url: `${gateway.url}/v1/videos/${id}/content` }],
    })
    expect(await gateway.money(bob)).toEqual({ available: '4.55', held: '0' })
  })

  test('the clip of a finished job has the asked length and shape', async () => {
    const body = { model: 'shaped', prompt: QUICK, duration: 7.25, aspect_ratio: '9:16' }
    const { id } = await gateway.finished(ada.key, body)

    const response = await gateway.get(ada.key, `/v1/videos/${id}/content`)

    const clip = readMp4(new Uint8Array(await response.arrayBuffer()))
    expect(clip).toMatchObject({ durationMs: 7250, playedMs: 7250 })
    expect(clip.width / clip.height).toBeCloseTo(9 / 16, 1)
  })

  test.skipIf(Bun.which('ffprobe') === null)('the clip plays with the asked length, by ffprobe', async () => {
    const { id } = await gateway.finished(ada.key, { model: MODEL, prompt: QUICK, duration: 6.5 })
    const response = await gateway.get(ada.key, `/v1/videos/${id}/content`)
    const file = join(gateway.dataDir, 'clip.mp4')
    await Bun.write(file, response)

    const entries = 'format=duration:stream=codec_name,nb_read_frames'
    const probe = Bun.spawn([
      'ffprobe',
      '-v',
      'error',
      '-count_frames',
      '-show_entries',
      entries,
      '-of',
      'json',
      file,
    ])
    const { format, streams } = (await new Response(probe.stdout).json()) as {
      readonly format: { readonly duration: string }
      readonly streams: readonly { readonly codec_name: string; readonly nb_read_frames: string }[]
    }

    expect(Number(format.duration)).toBe(6.5)
    expect(streams).toEqual([{ codec_name: 'h264', nb_read_frames: '12' }])
  })

  test('a provider prefix in the model is folded, and the reply has the name of the row', async () => {
    const [folded, exact] = await Promise.all([
      gateway.accepted(ada.key, { model: `openai/${MODEL}`, prompt: QUICK }),
      gateway.accepted(ada.key, { model: 'together/vendor/film', prompt: QUICK }),
    ])

    expect([folded.model, exact.model]).toEqual([MODEL, 'vendor/film'])
  })

  test.each<[string, object | string, string]>([
    ['broken JSON', '{"model": "family-a", ', 'invalid_json'],
    ['JSON that is not an object', '[]', 'invalid_json'],
    ['a missing model', { prompt: 'A' }, 'invalid_field'],
    ['an unknown model', { model: 'nope', prompt: 'A' }, 'model_not_found'],
    ['a disabled model', { model: 'off', prompt: 'A' }, 'model_not_found'],
    ['a model of another kind', { model: 'draw', prompt: 'A' }, 'model_not_found'],
    ['a model whose provider makes no videos', { model: 'unserved', prompt: 'A' }, 'model_not_found'],
    ['a missing prompt', { model: MODEL }, 'invalid_field'],
    ['a prompt that is not a string', { model: MODEL, prompt: 7 }, 'invalid_field'],
    ["a duration outside the engine's set", { model: MODEL, prompt: 'A', duration: 3 }, 'invalid_field'],
    ['an aspect_ratio outside the set', { model: MODEL, prompt: 'A', aspect_ratio: '4:3' }, 'invalid_field'],
    ['a missing required input', { model: 'family-b-edit', prompt: 'A' }, 'invalid_field'],
    ['a repeated field', '{"model":"family-a","prompt":"A","duration":5,"duration":6}', 'ambiguous_field'],
    ['a field in another case', '{"model":"family-a","prompt":"A","Duration":6}', 'ambiguous_field'],
  ])('rule 3: %s is 400 before the provider, and nothing is held', async (_, body, code) => {
    const bob = await gateway.account({ grant: '5' })

    const refusal = await refusalOf(await gateway.create(bob.key, body))

    expect(refusal).toMatchObject({ status: 400, code, type: 'invalid_request_error' })
    expect(await gateway.money(bob)).toEqual({ available: '5', held: '0' })
  })

  test("an empty prompt is the model's to refuse: 400 EMPTY_PROMPT", async () => {
    const response = await gateway.create(ada.key, { model: MODEL, prompt: '' })

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'EMPTY_PROMPT' }, cost_usd: '0' })
  })

  test('a request without a key is 401', async () => {
    expect((await gateway.create('none', { model: MODEL, prompt: 'A' })).status).toBe(401)
    expect((await gateway.get('none', '/v1/videos/vid_0')).status).toBe(401)
    expect((await gateway.get('none', '/v1/videos/vid_0/content')).status).toBe(401)
  })

  test('a balance below the reserve is 402, and no job is made', async () => {
    const poor = await gateway.account({ grant: '0.3' })

    const response = await gateway.create(poor.key, { model: MODEL, prompt: 'A', duration: 4 })

    expect(response.status).toBe(402)
    expect(await response.json()).toMatchObject({
      error: { type: 'insufficient_balance', code: 'insufficient_balance' },
      required_usd: '0.4',
      available_usd: '0.3',
      held_usd: '0',
    })
    expect(await gateway.money(poor)).toEqual({ available: '0.3', held: '0' })
  })

  test.each<[string, object | string, string]>([
    ['broken JSON', '{"model": "', 'invalid_json'],
    ['a missing prompt', { model: MODEL }, 'invalid_field'],
    ['a duration outside the set', { model: MODEL, prompt: 'A', duration: 99 }, 'invalid_field'],
    ['a missing input video', { model: 'family-b-edit', prompt: 'A' }, 'invalid_field'],
  ])('%s is 400 on an empty account too', async (_, body, code) => {
    const poor = await gateway.account({ grant: '0' })

    expect(await refusalOf(await gateway.create(poor.key, body))).toMatchObject({ status: 400, code })
  })

  test('an account without money is refused with 402 and what the job requires', async () => {
    const poor = await gateway.account({ grant: '0' })

    const response = await gateway.create(poor.key, { model: MODEL, prompt: 'A', duration: 4 })

    expect(response.status).toBe(402)
    expect(await response.json()).toMatchObject({
      required_usd: '0.4',
      available_usd: '0',
      held_usd: '0',
    })
  })

  test('a model with the price 0 is served on an empty account', async () => {
    const poor = await gateway.account({ grant: '0' })

    const { status, cost_usd: cost } = await gateway.finished(poor.key, { model: 'film-free', prompt: QUICK })

    expect([status, cost]).toEqual(['completed', '0'])
  })

  test('the same idempotency key and body give the same job; another body gives 409', async () => {
    const headers = { 'idempotency-key': 'film-1' }
    const body = { model: MODEL, prompt: QUICK, duration: 5 }
    const first = await gateway.accepted(ada.key, body, { headers })

    const repeated = await gateway.accepted(ada.key, body, { headers })
    const other = await gateway.create(ada.key, { ...body, duration: 6 }, { headers })

    expect(repeated.id).toBe(first.id)
    expect(await refusalOf(other)).toMatchObject({ status: 409, code: 'idempotency_key_reuse' })
  })

  test.each(['POST /v1/videos/remix', 'POST /v1/videos/vid_1/remix', 'POST /v1/video', 'POST /v1/videos/'])(
    '%s is not a route: 404',
    async route => {
      const [method = '', path = ''] = route.split(' ')

      expect((await gateway.get(ada.key, path, { method })).status).toBe(404)
    },
  )

  test('GET of a path that only creates is 405', async () => {
    const response = await gateway.get(ada.key, '/v1/videos/extend')

    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test.each([
    ['an id that does not exist', 'vid_00000000000000000000000000'],
    ['an id of an image job', 'img_00000000000000000000000000'],
    ['text that is not an id', 'x'],
    ['an empty id', ''],
  ])('GET of %s is 404', async (_, id) => {
    const answers = await Promise.all([
      gateway.get(ada.key, `/v1/videos/${id}`),
      gateway.get(ada.key, `/v1/videos/${id}/content`),
    ])

    expect(answers.map(({ status }) => status)).toEqual([404, 404])
  })

  test("another account's job and its clip are 404, exactly as if they did not exist", async () => {
    const eve = await gateway.account({ grant: '5' })
    const { id } = await gateway.finished(ada.key, { model: MODEL, prompt: QUICK })
    const unknown = id.replace(/.{8}$/, '00000000')
    const read = async (path: string) => {
      const refusal = await refusalOf(await gateway.get(eve.key, path))
      return JSON.stringify(refusal).replaceAll(id, '').replaceAll(unknown, '')
    }

    const foreign = [await read(`/v1/videos/${id}`), await read(`/v1/videos/${id}/content`)]

    expect(foreign).toEqual([
      await read(`/v1/videos/${unknown}`),
      await read(`/v1/videos/${unknown}/content`),
    ])
    expect(foreign[0]).toContain('"status":404')
  })

  test('another key of the same account reads the job', async () => {
    const { id } = await gateway.finished(ada.key, { model: MODEL, prompt: QUICK })
    const { key } = await gateway.admin<{ key: string }>('POST', `accounts/${ada.id}/keys`, {})

    expect((await gateway.get(key, `/v1/videos/${id}`)).status).toBe(200)
    expect((await gateway.get(key, `/v1/videos/${id}/content`)).status).toBe(200)
  })
})

describe('links', () => {
  async function linkOf(
    environment: Record<string, string>,
    headers: Record<string, string>,
  ): Promise<string> {
    const gateway = await startVideoGateway({ environment })
    const { key } = await gateway.account()
    const { id } = await gateway.finished(key, { model: MODEL, prompt: QUICK })
    const response = await gateway.get(key, `/v1/videos/${id}`, { headers })
    const { data = [] } = (await response.json()) as VideoBody
    await gateway.stop()
    return data[0]!.url.replace(id, 'ID')
  }
  const forwarded = { 'x-forwarded-host': 'api.example.com', 'x-forwarded-proto': 'https' }

  test('links are built from the Host of the request that reads the job', async () => {
    expect(await linkOf({}, { host: 'films.test:8080', ...forwarded })).toBe(
      'http://films.test:8080/v1/videos/ID/content',
    )
  })

  test('links are built from TOLLGATE_BASE_URL if it is set', async () => {
    expect(await linkOf({ TOLLGATE_BASE_URL: 'https://films.example.com/' }, { host: 'h' })).toBe(
      'https://films.example.com/v1/videos/ID/content',
    )
  })

  test.each([
    ['127.0.0.1', 'https://api.example.com/v1/videos/ID/content'],
    ['on', 'https://api.example.com/v1/videos/ID/content'],
    ['10.0.0.0/8', 'http://h/v1/videos/ID/content'],
  ])('links are built from the headers of a proxy only if it is trusted: %s', async (proxies, link) => {
    expect(await linkOf({ TOLLGATE_TRUST_PROXY: proxies }, { host: 'h', ...forwarded })).toBe(link)
  })
})

describe('with a scripted provider', () => {
  let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
  let ada: TestAccount

  beforeAll(async () => {
    gateway = await startScriptedVideos({
      models: [
        videoModel('fixed', {
          params: { aspect_ratio: ['16:9', '9:16'], style: ['calm', 'wild'] },
          fixed_params: { resolution: '1080p', tier: 'pro' },
        }),
        videoModel('wide', { fixed_params: { aspect_ratio: '21:9' } }),
        videoModel('sized', { fixed_params: { size: '720x1280' } }),
        shapedModel,
      ],
    })
    ada = await gateway.account({ grant: '1000' })
  })
  afterAll(() => gateway.stop())

  const submitOf = async (body: object) => {
    await gateway.accepted(ada.key, { prompt: 'A', ...body })
    return gateway.media.submits.at(-1)!
  }

  test('the provider gets the prompt, its own name of the model, and our id of the job', async () => {
    const { id } = await gateway.accepted(ada.key, { model: MODEL, prompt: 'A lighthouse' })

    expect(gateway.media.submits.at(-1)).toMatchObject({
      jobId: id,
      kind: 'video',
      model: 'video',
      prompt: 'A lighthouse',
    })
  })

  test.each(['16:9', '9:16', '1:1'])(
    'aspect_ratio %s reaches the provider if the row lists it',
    async ratio => {
      expect((await submitOf({ model: 'shaped', aspect_ratio: ratio })).params).toEqual({
        aspect_ratio: ratio,
      })
    },
  )

  test('aspect_ratio is 16:9 by default', async () => {
    expect((await submitOf({ model: 'shaped' })).params).toEqual({ aspect_ratio: '16:9' })
  })

  test.each(['16:9', '9:16', '1:1'])(
    'aspect_ratio %s reaches the provider if the row does not list it',
    async ratio => {
      expect((await submitOf({ model: MODEL, aspect_ratio: ratio })).params).toEqual({ aspect_ratio: ratio })
    },
  )

  test.each(['family-a', 'family-g', 'storyboard'])(
    'aspect_ratio is 16:9 by default for a clip from text, also if the row of %s does not list it',
    async model => {
      expect((await submitOf({ model, aspect_ratio: null })).params).toEqual({ aspect_ratio: '16:9' })
      expect((await submitOf({ model })).params).toEqual({ aspect_ratio: '16:9' })
    },
  )

  test.each([
    ['family-a', { image: INPUT_ID }],
    ['family-a', { video: INPUT_ID }],
    ['family-b-edit', { video: INPUT_ID }],
  ])(
    'a clip of %s that is made from an input has the shape of the input by default',
    async (model, inputs) => {
      expect((await submitOf({ model, ...inputs })).params).toEqual({})
      expect((await submitOf({ model, ...inputs, aspect_ratio: '1:1' })).params).toEqual({
        aspect_ratio: '1:1',
      })
    },
  )

  test('a row that fixes the shape under another name gets no default aspect_ratio', async () => {
    expect((await submitOf({ model: 'sized' })).params).toEqual({ size: '720x1280' })
  })

  test("rule 2: parameters outside the engine's set are dropped; resolution and tier come from the row", async () => {
    const { params } = await submitOf({
      model: 'fixed',
      resolution: '4K',
      size: '1280x720',
      tier: 'basic',
      anything: { at: 'all' },
    })

    expect(params).toEqual({ aspect_ratio: '16:9', style: 'calm', resolution: '1080p', tier: 'pro' })
  })

  test('a row may fix the aspect ratio', async () => {
    expect((await submitOf({ model: 'wide', aspect_ratio: '4:3' })).params).toEqual({ aspect_ratio: '21:9' })
  })

  test('GET says pending until the submit is answered, and then processing until the end', async () => {
    const answer = Promise.withResolvers<{ outcome: 'accepted'; upstreamId: string }>()
    gateway.media.submitted = answer.promise
    const submitsBefore = gateway.media.submits.length
    const reply = gateway.accepted(ada.key, { model: MODEL, prompt: 'A', duration: 5 })
    await until('the submit has begun', () => gateway.media.submits.length > submitsBefore)
    const id = gateway.media.submits.at(-1)!.jobId
    const before = await gateway.poll(ada.key, id)
    answer.resolve({ outcome: 'accepted', upstreamId: 'pending-1' })
    await reply
    gateway.media.submitted = undefined
    const running = await gateway.poll(ada.key, id)
    gateway.media.polled = { ...RUNNING, upstreamStatus: 'queued' } as typeof RUNNING
    const queued = await gateway.poll(ada.key, id)
    gateway.media.polled = aClip({ durationMs: 5000 })
    const completed = await gateway.poll(ada.key, id)
    gateway.media.polled = RUNNING
    const later = await gateway.poll(ada.key, id)

    const shown = { id, model: MODEL, created: expect.any(Number), estimated_cost_usd: '0.5' }
    expect(before).toEqual({ ...shown, status: 'pending' })
    expect([running, queued]).toEqual([
      { ...shown, status: 'processing' },
      { ...shown, status: 'processing' },
    ])
    expect([completed.status, later.status]).toEqual(['completed', 'completed'])
  })
})
