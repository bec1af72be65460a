import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PNG } from 'pngjs'
import type { TestAccount } from '../../support/gateway.ts'
import {
  contentsOf,
  errorOf,
  images,
  startImageGateway,
  startScriptedImages,
  type ImageGateway,
  type ImagesBody,
} from '../gateways/image-gateway.ts'

describe('POST /v1/images/generations on the sandbox', () => {
  let gateway: ImageGateway
  let ada: TestAccount

  beforeAll(async () => {
    gateway = await startImageGateway()
    ada = await gateway.account({ grant: '100' })
  })
  afterAll(() => gateway.stop())

  /** The width and the height of the first image of a reply. */
  function sizeOf({ data }: ImagesBody): readonly number[] {
    const { width, height } = PNG.sync.read(Buffer.from(data[0]!.b64_json, 'base64'))
    return [width, height]
  }

  test('POST /v1/images/generations on the sandbox answers 200 with created, cost_usd and the images as base64 (rules 3, 4)', async () => {
    const response = await gateway.create(ada.key)

    const text = await response.text()
    const body = JSON.parse(text) as ImagesBody
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-length')).toBe(String(text.length))
    expect(response.headers.get('x-request-id')).toStartWith('req_')
    expect(Object.keys(body)).toEqual(['created', 'cost_usd', 'data'])
    expect(body.created).toBe(Math.floor(gateway.clock.now() / 1000))
    expect(body.cost_usd).toBe('0.04')
    expect(sizeOf(body)).toEqual([1024, 1024])
  })

  test.each([
    ['1:1', 1024, 1024],
    ['16:9', 1024, 576],
    ['9:16', 576, 1024],
    ['4:3', 1024, 768],
    ['3:4', 768, 1024],
  ])(
    'POST /v1/images/generations on the sandbox draws the aspect_ratio %s',
    async (aspectRatio, width, height) => {
      const body = await gateway.created(ada.key, { aspect_ratio: aspectRatio })

      expect(sizeOf(body)).toEqual([width, height])
    },
  )

  test.each([
    ['3:2', 1024, 683],
    ['2:3', 683, 1024],
    ['21:9', 1024, 439],
  ])(
    'POST /v1/images/generations on the sandbox draws the aspect_ratio %s of a model that has it',
    async (aspectRatio, width, height) => {
      const body = await gateway.created(ada.key, { model: 'draw-wide', aspect_ratio: aspectRatio })

      expect(sizeOf(body)).toEqual([width, height])
    },
  )

  test.each([
    ['1K', 1024],
    ['2K', 2048],
    ['4K', 4096],
  ])(
    'POST /v1/images/generations on the sandbox draws the resolution %s at the same price (rule 5)',
    async (resolution, side) => {
      const body = await gateway.created(ada.key, { resolution })

      expect(sizeOf(body)).toEqual([side, side])
      expect(body.cost_usd).toBe('0.04')
    },
  )

  test.each([
    ['landscape', 1024, 576],
    ['portrait', 576, 1024],
    ['square', 1024, 1024],
  ])(
    'POST /v1/images/generations on the sandbox draws the orientation %s of a model that has it',
    async (orientation, width, height) => {
      const body = await gateway.created(ada.key, { model: 'draw-turned', orientation })

      expect(sizeOf(body)).toEqual([width, height])
    },
  )

  test('POST /v1/images/generations on the sandbox moves the balance by the cost, and holds nothing when it answers', async () => {
    const account = await gateway.account({ grant: '1' })

    const body = await gateway.created(account.key, { n: 3, resolution: '2K', aspect_ratio: '16:9' })

    expect([body.cost_usd, body.data.length]).toEqual(['0.12', 3])
    expect(await gateway.money(account)).toEqual({ available: '0.88', held: '0' })
    await gateway.verify()
  })

  test('POST /v1/images/generations on the sandbox leaves an empty prompt to the model, whose code is EMPTY_PROMPT', async () => {
    const response = await gateway.create(ada.key, { prompt: '' })

    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({
      error: { type: 'invalid_request_error', code: 'EMPTY_PROMPT' },
      cost_usd: '0',
    })
  })

  test('POST /v1/images/generations on the sandbox needs a key', async () => {
    const statuses = await Promise.all(
      [{}, { authorization: 'Bearer tg_live_unknown' }, { 'x-api-key': 'tg_live_unknown' }].map(
        async headers =>
          (await fetch(`${gateway.url}/v1/images/generations`, { method: 'POST', headers })).status,
      ),
    )

    expect(statuses).toEqual([401, 401, 401])
  })

  test('POST /v1/images/generations on the sandbox takes a key in x-api-key', async () => {
    const response = await fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { 'x-api-key': ada.key },
      body: JSON.stringify({ model: 'draw-1', prompt: 'A boat' }),
    })

    expect(response.status).toBe(200)
  })
})

describe('what a provider gets', () => {
  let gateway: Awaited<ReturnType<typeof startScriptedImages>>
  let ada: TestAccount

  beforeAll(async () => {
    gateway = await startScriptedImages({ models: [prefixed('meta/draw-x'), prefixed('draw-y')] })
    gateway.media.submitted = images(['one'])
    ada = await gateway.account({ grant: '100' })
  })
  afterAll(() => gateway.stop())

  async function submitted(body: object) {
    await gateway.created(ada.key, body)
    return gateway.media.submits.at(-1)!
  }

  test('a provider gets the prompt as it was sent', async () => {
    const prompt = ' Größe: “5 m”\n[x] 😀 '

    expect((await submitted({ prompt })).prompt).toBe(prompt)
  })

  test('a provider gets the default of each parameter that the request leaves out', async () => {
    expect((await submitted({})).params).toEqual({ aspect_ratio: '1:1', resolution: '1K' })
    expect((await submitted({ model: 'draw-turned' })).params).toEqual({ orientation: 'square' })
  })

  test('a provider gets the first value of a set that lacks the default', async () => {
    expect((await submitted({ model: 'draw-narrow' })).params).toEqual({
      aspect_ratio: '3:4',
      resolution: '2K',
    })
  })

  test('null in a field of a request counts as absent', async () => {
    const nulls = { n: null, aspect_ratio: null, resolution: null, image: null, response_format: null }

    const submit = await submitted(nulls)

    expect(submit).toMatchObject({ params: { aspect_ratio: '1:1', resolution: '1K' }, images: [] })
  })

  test('a provider gets no field that the model does not have (rule 1)', async () => {
    const more = { model: 'draw-plain', aspect_ratio: '5:1', resolution: '9K', orientation: 'sideways' }

    expect((await submitted(more)).params).toEqual({})
  })

  test('a provider gets no unknown field, and nothing of response_format', async () => {
    const more = { response_format: 'url', size: '1x1', seed: 7, style: {}, user: 'u', quality: ['hd'] }

    const submit = await submitted(more)

    expect(Object.keys(submit).sort((left, right) => (left < right ? -1 : 1))).toEqual([
      'count',
      'images',
      'jobId',
      'kind',
      'model',
      'params',
      'prompt',
      'provider',
      'timeoutMs',
      'videos',
    ])
    expect(submit.params).toEqual({ aspect_ratio: '1:1', resolution: '1K' })
  })

  test('a provider gets no n among its parameters', async () => {
    gateway.media.submitted = images(['one', 'two', 'three', 'four'])

    const submit = await submitted({ n: 4 })

    expect(submit.params).toEqual({ aspect_ratio: '1:1', resolution: '1K' })
  })

  test('a provider gets the fixed parameters of the row, whatever the request says', async () => {
    const submit = await submitted({ model: 'draw-fixed', quality: 'low', steps: 1 })

    expect(submit.params).toEqual({ quality: 'hd', steps: 4 })
  })

  test('a provider gets the name that the row has for the model', async () => {
    expect((await submitted({})).model).toBe('image')
  })

  test.each(['b64_json', 'url', 'whatever', 7])(
    'a provider gets the same whatever response_format is: %p, and the reply is base64',
    async format => {
      gateway.media.submitted = images(['pixels'])

      const body = await gateway.created(ada.key, { response_format: format })

      expect(contentsOf(body)).toEqual(['pixels'])
    },
  )

  test.each([
    ['openai/draw-1', 'draw-1'],
    ['together/meta/draw-x', 'meta/draw-x'],
    ['meta/draw-x', 'meta/draw-x'],
    ['a/b/c/draw-y', 'draw-y'],
  ])('a model is found under a prefixed name: %s', async (model, row) => {
    const response = await gateway.create(ada.key, { model })

    expect(response.status).toBe(200)
    const { data } = await gateway.admin<{ data: readonly { model: string }[] }>('GET', 'usage?limit=1')
    expect(data[0]?.model).toBe(row)
  })

  test('the charge follows the images that came, and not n (rule 5)', async () => {
    gateway.media.submitted = images(['one', 'two'])

    const body = await gateway.created(ada.key, { n: 5 })

    expect([contentsOf(body), body.cost_usd]).toEqual([['one', 'two'], '0.08'])
  })

  test('at most n images are returned and charged', async () => {
    gateway.media.submitted = images(['one', 'two', 'three'])

    const body = await gateway.created(ada.key, { n: 2 })

    expect([contentsOf(body), body.cost_usd]).toEqual([['one', 'two'], '0.08'])
  })

  test('the charge follows n if the provider does not report the number of images', async () => {
    gateway.media.submitted = images(['a sheet'], { isCounted: false })

    const body = await gateway.created(ada.key, { n: 3 })

    expect([contentsOf(body), body.cost_usd]).toEqual([['a sheet'], '0.12'])
  })
})

function prefixed(id: string): object {
  return {
    id,
    kind: 'image',
    upstreams: [{ provider: 'box', model: 'image' }],
    pricing: { per_image: '0.04' },
    params: {},
  }
}
