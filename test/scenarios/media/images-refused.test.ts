import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import {
  aPng,
  errorOf,
  imageModel,
  images,
  inputFiles,
  startScriptedImages,
} from '../gateways/image-gateway.ts'
import { until } from '../../support/until.ts'

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount
let submitsBefore: number

beforeAll(async () => {
  gateway = await startScriptedImages({
    models: [imageModel('draw-free', { pricing: { per_image: '0' } })],
  })
  gateway.media.submitted = images(['pixels'])
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  submitsBefore = gateway.media.submits.length
  // Those of a job are removed after its reply.
  await until('no file of an earlier test is left', () => inputFiles(gateway).length === 0)
})

const json = (fields: object) => JSON.stringify({ model: 'draw-1', prompt: 'A boat', ...fields })

/** The request was refused before the provider: nothing was submitted, and nothing is held. */
async function expectRefused(
  response: Response,
  expected: { readonly status?: number; readonly error: object },
): Promise<void> {
  const { status = 400, error } = expected
  expect({ status: response.status, ...(await errorOf(response)) }).toMatchObject({ status, error })
  expect(gateway.media.submits).toHaveLength(submitsBefore)
  expect(await gateway.money(ada)).toEqual({ available: '10', held: '0' })
}

describe.each(['/v1/images/generations', '/v1/images/edits'])('POST %s refuses before the provider', path => {
  test.each([
    ['an empty body', ''],
    ['a body that is not JSON', 'prompt=A+boat'],
    ['a body that is cut off', '{"model": "draw-1", "prompt": "A bo'],
    ['more after the body', `${json({})} {}`],
    ['an array', '[{"model":"draw-1"}]'],
    ['a string', '"draw-1"'],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('a request with %s is refused with 400 invalid_json before the provider (rule 2)', async (_, body) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}` },
      body,
    })

    const message = expect.stringMatching(/^Invalid JSON: /)
    await expectRefused(response, {
      error: { message, type: 'invalid_request_error', code: 'invalid_json', param: null },
    })
  })

  test("a multipart body is refused with 400 'Invalid JSON' before the provider", async () => {
    const form = new FormData()
    form.set('model', 'draw-1')
    form.set('prompt', 'A boat')
    form.set('image', new Blob(['png']), 'boat.png')

    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}` },
      body: form,
    })

    await expectRefused(response, {
      error: { message: 'Invalid JSON', type: 'invalid_request_error', code: 'json_required' },
    })
  })

  test.each([
    ['a data URL', 'data:image/png;base64,', 'image'],
    ['a data URL of white space', ['data:image/png;base64, \r\n'], 'image_urls'],
  ])(
    'a request with %s without any byte is refused with 400 before the provider',
    async (_, value, param) => {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.key}` },
        body: json({ [param]: value }),
      })

      await expectRefused(response, { error: { code: 'invalid_field', param } })
      expect(inputFiles(gateway)).toEqual([])
    },
  )

  test.each([
    ['an unknown model', { model: 'draw-9' }],
    ['a model that is switched off', { model: 'draw-off' }],
    ['a model of another kind', { model: 'talk-1' }],
    ['a model in another case', { model: 'Draw-1' }],
  ])('a request for %s is refused with 400 model_not_found before the provider', async (_, fields) => {
    const response = await gateway.create(ada.key, fields, { path })

    await expectRefused(response, { error: { type: 'invalid_request_error', code: 'model_not_found' } })
  })

  test.each([
    ['no model', { model: undefined }, 'model'],
    ['an empty model', { model: '' }, 'model'],
    ['a model that is a number', { model: 7 }, 'model'],
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['a prompt of null', { prompt: null }, 'prompt'],
    ['a prompt that is an array', { prompt: ['A boat'] }, 'prompt'],
    ['n of 0', { n: 0 }, 'n'],
    ['n of 11', { n: 11 }, 'n'],
    ['n below zero', { n: -1 }, 'n'],
    ['n with a fraction', { n: 1.5 }, 'n'],
    ['n that is text', { n: '2' }, 'n'],
    ['n that is a list', { n: [1] }, 'n'],
  ])('a request with %s is refused with 400 and the name of the field', async (_, fields, param) => {
    const response = await gateway.create(ada.key, fields, { path })

    await expectRefused(response, { error: { code: 'invalid_field', param } })
  })

  test.each([
    ['aspect_ratio', 'draw-1', '3:2', '1:1, 16:9, 9:16, 4:3, 3:4'],
    ['aspect_ratio', 'draw-narrow', '1:1', '3:4, 9:16'],
    ['resolution', 'draw-1', '8K', '1K, 2K, 4K'],
    ['resolution', 'draw-1', 4, '1K, 2K, 4K'],
    ['resolution', 'draw-1', ['1K'], '1K, 2K, 4K'],
    ['orientation', 'draw-turned', 'upright', 'landscape, portrait, square'],
  ])(
    'a value outside the set of %s of %s is refused with 400 and the set',
    async (param, model, value, set) => {
      const response = await gateway.create(ada.key, { model, [param]: value }, { path })

      const message = expect.stringContaining(set.split(', ')[1]!)
      await expectRefused(response, { error: { code: 'invalid_field', param, message } })
    },
  )

  test.each([
    ['model', '{"model":"draw-1","prompt":"A boat","model":"draw-plain"}'],
    ['model', '{"model":"draw-1","prompt":"A boat","Model":"draw-plain"}'],
    ['prompt', '{"model":"draw-1","prompt":"A boat","prom\\u0070t":"A ship"}'],
    ['n', '{"model":"draw-1","prompt":"A boat","n":1,"n":10}'],
    ['n', '{"model":"draw-1","prompt":"A boat","n":1,"N":10}'],
    ['resolution', '{"model":"draw-1","prompt":"A boat","resolution":"1K","resolution":"4K"}'],
    ['image', '{"model":"draw-1","prompt":"A boat","image":"https://a.test/1","image":"https://a.test/2"}'],
    ['image_urls', '{"model":"draw-1","prompt":"A boat","image_urls":[],"Image_URLs":[]}'],
  ])(
    'a request with %s twice, or in another case, is refused with 400 ambiguous_field',
    async (param, body) => {
      const response = await gateway.create(ada.key, body, { path })

      await expectRefused(response, { error: { code: 'ambiguous_field', param } })
    },
  )

  test('a request with more than 4 MB of other fields is refused with 400', async () => {
    const response = await gateway.create(ada.key, { prompt: 'x'.repeat(4 * 1024 * 1024) }, { path })

    await expectRefused(response, { error: { code: 'invalid_field' } })
  })
})

test('a model that is switched off while the gateway runs is refused from then on', async () => {
  await gateway.admin('PATCH', 'models/draw-plain', { enabled: false })

  const off = await gateway.create(ada.key, { model: 'draw-plain' })
  await gateway.admin('PATCH', 'models/draw-plain', { enabled: true })

  await expectRefused(off, { error: { code: 'model_not_found' } })
})

test('a body above the limit of media routes: 413', async () => {
  const small = await startScriptedImages({ environment: { TOLLGATE_MAX_MEDIA_BODY_MB: '1' } })
  const { key } = await small.account()

  const response = await small.create(key, { image: 'A'.repeat(1024 * 1024) })
  await small.stop()

  expect(response.status).toBe(413)
  expect(await errorOf(response)).toMatchObject({ error: { code: 'request_too_large' } })
})

test.each(['GET', 'PUT', 'DELETE'])('%s on a path that creates images is 405 with Allow', async method => {
  const response = await fetch(`${gateway.url}/v1/images/generations`, {
    method,
    headers: { authorization: `Bearer ${ada.key}` },
  })

  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
})

test.each(['/v1/images', '/v1/images/variations', '/v1/images/jobs/img_0', '/v1/images/generations/more'])(
  'POST %s is 404, with a key and without one',
  async path => {
    const statuses = await Promise.all(
      [{}, { authorization: `Bearer ${ada.key}` }].map(
        async headers => (await fetch(gateway.url + path, { method: 'POST', headers })).status,
      ),
    )

    expect(statuses).toEqual([404, 404])
  },
)

describe('402', () => {
  test('a request is 402 if the balance does not cover the reserve, before a job exists', async () => {
    const poor = await gateway.account({ grant: '0.1' })

    const response = await gateway.create(poor.key, { n: 3 })

    expect(response.status).toBe(402)
    expect(await errorOf(response)).toEqual({
      error: {
        message: 'This job reserves 0.12 USD, and 0.1 USD is available. Add funds.',
        type: 'insufficient_balance',
        code: 'insufficient_balance',
        param: null,
      },
      required_usd: '0.12',
      available_usd: '0.1',
      held_usd: '0',
    })
    expect(gateway.media.submits).toHaveLength(submitsBefore)
    expect(await gateway.money(poor)).toEqual({ available: '0.1', held: '0' })
  })

  test('a request for fewer images that the balance covers is not 402: n sizes the reserve', async () => {
    const poor = await gateway.account({ grant: '0.1' })

    const response = await gateway.create(poor.key, { n: 2 })

    expect(response.status).toBe(200)
  })

  test('a request with an empty balance is 402, and the reply says what is required', async () => {
    const empty = await gateway.account({ grant: '0' })

    const response = await gateway.create(empty.key, { n: 2, image: Buffer.alloc(99, 7).toString('base64') })

    expect(response.status).toBe(402)
    expect(await errorOf(response)).toMatchObject({
      error: { code: 'insufficient_balance' },
      required_usd: '0.08',
      available_usd: '0',
      held_usd: '0',
    })
    expect(inputFiles(gateway)).toEqual([])
  })

  test.each<[string, object | string, string]>([
    ['a body that is not JSON', 'not JSON', 'invalid_json'],
    ['99 images', { n: 99 }, 'invalid_field'],
    ['no prompt', { prompt: null }, 'invalid_field'],
    ['an unknown model', { model: 'draw-9' }, 'model_not_found'],
    ['a value outside the set', { aspect_ratio: '7:1' }, 'invalid_field'],
  ])(
    'a request with %s on an empty balance is not 402: the request is checked first',
    async (_, body, code) => {
      const empty = await gateway.account({ grant: '0' })

      const response = await gateway.create(empty.key, body)

      expect(response.status).toBe(400)
      expect(await errorOf(response)).toMatchObject({ error: { code } })
    },
  )

  test.each([['0'], ['-0.5']])('a model with the price 0 is not 402 at a balance of %s', async balance => {
    const account = await gateway.account({ grant: '0' })
    if (balance !== '0')
      await gateway.admin('POST', `accounts/${account.id}/debits`, {
        amount_usd: balance.slice(1),
        allow_negative: true,
      })

    const response = await gateway.create(account.key, {
      model: 'draw-free',
      image: aPng('a reference').toBase64(),
    })

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ cost_usd: '0' })
    expect(gateway.media.submits.at(-1)!.images).toHaveLength(1)
    expect((await gateway.money(account)).available).toBe(balance)
    await gateway.verify()
  })

  test('a request that is refused with 402 leaves no file behind', async () => {
    const poor = await gateway.account({ grant: '0.01' })

    const response = await gateway.create(poor.key, { image: Buffer.alloc(100_000, 7).toString('base64') })

    expect(response.status).toBe(402)
    expect(inputFiles(gateway)).toEqual([])
  })
})

test('50 parallel jobs on a balance for 5: five are accepted, the rest are 402, and none is lost', async () => {
  const account = await gateway.account({ grant: '0.2' })
  const gate = Promise.withResolvers<ReturnType<typeof images>>()
  gateway.media.submitted = gate.promise

  const replies = Array.from({ length: 50 }, () => gateway.create(account.key))
  let refused = 0
  const statusOf = async (reply: Promise<Response>) => {
    const { status } = await reply
    if (status === 402) refused += 1
    // All that are accepted wait for the provider, which answers once all others were refused.
    if (refused === 45) gate.resolve(images(['pixels']))
    return status
  }
  const statuses = await Promise.all(replies.map(statusOf))
  gateway.media.submitted = images(['pixels'])

  expect(statuses.filter(status => status === 200)).toHaveLength(5)
  expect(statuses.filter(status => status === 402)).toHaveLength(45)
  expect(gateway.media.submits.length - submitsBefore).toBe(5)
  expect(await gateway.money(account)).toEqual({ available: '0', held: '0' })
  await gateway.verify()
})
