import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { imageNames } from '../../../src/protocol/media/media-body.ts'
import { scriptedMedia, type RecordedInput } from '../../support/scripted-media.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { errorOf, imageModel, images, inputFiles, startScriptedImages } from '../gateways/image-gateway.ts'
import { until } from '../../support/until.ts'

/** The contract's limit of one reference, decoded. */
const REFERENCE_BYTES_MAX = 80 * 1024 * 1024

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('first')])
const jpeg = Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), Buffer.from('second')])
const gif = Buffer.concat([Buffer.from('GIF89a', 'latin1'), Buffer.from('third')])
const webp = Buffer.concat([Buffer.from('RIFF\x08\0\0\0WEBPVP8 ', 'latin1'), Buffer.from('fourth')])
const unknown = Buffer.from('these bytes are no image')

const IMAGES = { kind: 'openai-images' }
/** The provider behind rows with a base URL. */
const elsewhere = scriptedMedia()

let gateway: Awaited<ReturnType<typeof startScriptedImages>>
let ada: TestAccount
let submitsBefore: number

beforeAll(async () => {
  gateway = await startScriptedImages({
    providers: [
      { id: 'inside', ...IMAGES, base_url: 'http://127.0.0.1:1/v1' },
      { id: 'trusted', ...IMAGES, base_url: 'http://127.0.0.1:1/v1', send_links: 'always' },
      { id: 'public', ...IMAGES, base_url: 'http://93.184.215.14/v1' },
      { id: 'careful', ...IMAGES, base_url: 'http://93.184.215.14/v1', send_links: 'never' },
    ],
    models: ['inside', 'trusted', 'public', 'careful'].map(provider =>
      imageModel(`${provider}-draw`, { upstreams: [{ provider, model: 'draw' }] }),
    ),
    otherMedia: { 'openai-images': elsewhere },
  })
  gateway.media.submitted = images(['pixels'])
  elsewhere.submitted = images(['pixels'])
  ada = await gateway.account({ grant: '10' })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  submitsBefore = gateway.media.submits.length
  // Those of a job are removed after its reply.
  await until('no file of an earlier test is left', () => inputFiles(gateway).length === 0)
})

/** The references of the submit that a request leads to. */
async function referencesOf(fields: object | string): Promise<readonly RecordedInput[]> {
  const response = await gateway.create(ada.key, fields)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return gateway.media.submits.at(-1)!.images
}

function dataUrl(bytes: Buffer, type = 'image/png'): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

function link(url: string): RecordedInput {
  return { from: 'url', url }
}

function file(content: Buffer, mediaType: string): RecordedInput {
  return { from: 'bytes', mediaType, content }
}

describe.each(imageNames)('a reference under the name %s (rule 7)', name => {
  test.each([
    ['a URL, passed on as a link', 'https://example.com/a.png', link('https://example.com/a.png')],
    ['a data-URL, sent as bytes', dataUrl(png), file(png, 'image/png')],
    ['bare base64, sent as bytes', jpeg.toString('base64'), file(jpeg, 'image/jpeg')],
  ])('a reference may be %s', async (_, value, expected) => {
    expect(await referencesOf({ [name]: value })).toEqual([expected])
  })

  test('a reference may be an array of all forms, which keep their order', async () => {
    const values = [dataUrl(gif), 'http://example.com/b', webp.toString('base64'), dataUrl(jpeg)]

    expect(await referencesOf({ [name]: values })).toEqual([
      file(gif, 'image/gif'),
      link('http://example.com/b'),
      file(webp, 'image/webp'),
      file(jpeg, 'image/jpeg'),
    ])
  })
})

test('references under several names are joined in the order of the names', async () => {
  const fields = {
    ref_images: ['https://example.com/7'],
    init_image: 'https://example.com/6',
    image: dataUrl(png),
    image_urls: ['https://example.com/4', 'https://example.com/4b'],
    images: ['https://example.com/2'],
    input_image: 'https://example.com/5',
    image_url: 'https://example.com/3',
  }

  expect(await referencesOf(fields)).toEqual([
    file(png, 'image/png'),
    ...['2', '3', '4', '4b', '5', '6', '7'].map(name => link(`https://example.com/${name}`)),
  ])
})

test.each([
  ['PNG', png, 'image/png'],
  ['JPEG', jpeg, 'image/jpeg'],
  ['GIF', gif, 'image/gif'],
  ['WebP', webp, 'image/webp'],
  ['an unknown format', unknown, 'application/octet-stream'],
])('%s is known by its signature, whatever the data-URL says', async (_, bytes, mediaType) => {
  expect(await referencesOf({ image: dataUrl(bytes, 'image/x-other') })).toEqual([file(bytes, mediaType)])
})

test.each([
  ['in one line', (text: string) => text],
  ['in several lines', (text: string) => `${text.slice(0, 8)}\r\n${text.slice(8)}\n`],
])('bare base64 of an unknown format is sent: %s', async (_, written) => {
  expect(await referencesOf({ image: written(unknown.toString('base64')) })).toEqual([
    file(unknown, 'application/octet-stream'),
  ])
})

test.each([
  ['text', 'no link, and not base64!'],
  ['a text of letters and spaces', 'not base64 at all'],
  ['a word', 'garbage'],
  ['an empty text', ''],
  ['a link without a host', 'https://'],
  ['a link of another scheme', 'ftp://example.com/a.png'],
  ['a file link', 'file:///etc/passwd'],
  ['a data-URL without base64', 'data:image/svg+xml,<svg/>'],
  ['a number', 7],
  ['true', true],
  ['null', null],
  ['an object', { url: 'https://example.com/a.png' }],
  ['an array in an array', [['https://example.com/a.png']]],
])('%s is dropped silently', async (_, value) => {
  expect(await referencesOf({ image: value, images: ['https://example.com/b'] })).toEqual([
    link('https://example.com/b'),
  ])
})

test('a link is never fetched by the gateway', async () => {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      asked.push(request.url)
      return new Response(png)
    },
  })
  const url = `http://127.0.0.1:${server.port}/a.png`

  const references = await referencesOf({ image: url })
  await server.stop(true)

  expect(references).toEqual([link(url)])
  expect(asked).toEqual([])
})

describe('a link for a provider', () => {
  const LINK = 'https://example.com/a.png'

  test.each([
    ['in a private network', 'inside-draw', 'image_urls'],
    ['with send_links: never', 'careful-draw', 'image'],
  ])('%s is 400 before anything is held, and a file is sent', async (_, model, name) => {
    const bob = await gateway.account({ grant: '1' })
    const before = elsewhere.submits.length

    const refused = await gateway.create(bob.key, { model, image: dataUrl(png), [name]: [LINK] })
    const money = await gateway.money(bob)
    const sent = await gateway.create(bob.key, { model, [name]: [dataUrl(jpeg)] })

    expect(refused.status).toBe(400)
    expect(await errorOf(refused)).toMatchObject({ error: { code: 'invalid_field', param: name } })
    expect(money).toEqual({ available: '1', held: '0' })
    expect(sent.status).toBe(200)
    expect(elsewhere.submits.slice(before).map(submit => submit.images)).toEqual([[file(jpeg, 'image/jpeg')]])
  })

  test.each([
    ['in a private network with send_links: always', 'trusted-draw'],
    ['at a public address', 'public-draw'],
  ])('%s is passed on', async (_, model) => {
    const response = await gateway.create(ada.key, { model, image: LINK })

    expect(response.status).toBe(200)
    expect(elsewhere.submits.at(-1)!.images).toEqual([link(LINK)])
  })
})

test('there is no limit on the number of references', async () => {
  const urls = Array.from({ length: 300 }, (_, index) => `https://example.com/${index}`)
  const files = Array.from({ length: 100 }, (_, index) => Buffer.concat([png, Buffer.from(`${index}`)]))

  const references = await referencesOf({ image: urls, images: files.map(bytes => dataUrl(bytes)) })

  expect(references).toEqual([...urls.map(link), ...files.map(bytes => file(bytes, 'image/png'))])
})

describe('the limit of 80 MB', () => {
  /** A request with one reference of so many bytes, decoded. */
  const bodyWith = (bytes: number) =>
    `{"model":"draw-1","prompt":"A boat","image":"${Buffer.alloc(bytes, 1).toString('base64')}"}`

  test('the limit of 80 MB is by the decoded size: a reference of 80 MB is taken', async () => {
    const [reference] = await referencesOf(bodyWith(REFERENCE_BYTES_MAX))

    expect(reference).toMatchObject({ from: 'bytes', content: { length: REFERENCE_BYTES_MAX } })
  })

  test('the limit of 80 MB refuses one byte more with a 400 before the provider, and leaves no file', async () => {
    const response = await gateway.create(ada.key, bodyWith(REFERENCE_BYTES_MAX + 1))

    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ error: { code: 'invalid_field', param: 'image' } })
    expect(gateway.media.submits).toHaveLength(submitsBefore)
    await until('no file is left', () => inputFiles(gateway).length === 0)
  })
})

test.each([
  ['FILE_TOO_LARGE', 'The file is too large.'],
  ['FILE_TYPE_NOT_ALLOWED', 'The model takes PNG only.'],
  ['FILE_DOWNLOAD_FAILED', 'The link could not be fetched.'],
])('the model may refuse a reference with %s', async (code, message) => {
  gateway.media.submitted = { outcome: 'rejected', reason: 'invalid', status: 422, code, message }

  const response = await gateway.create(ada.key, { image: dataUrl(png) })
  gateway.media.submitted = images(['pixels'])

  expect(response.status).toBe(400)
  expect(await errorOf(response)).toMatchObject({ error: { code, message }, cost_usd: '0' })
})

test.each([
  ['completed', images(['pixels']), 200],
  ['failed', { outcome: 'rejected', reason: 'invalid', status: 400, message: 'No.' } as const, 400],
])('the files of a job that %s are removed', async (_, outcome, status) => {
  gateway.media.submitted = outcome

  const response = await gateway.create(ada.key, { image: [dataUrl(png), dataUrl(jpeg)] })
  gateway.media.submitted = images(['pixels'])

  expect(response.status).toBe(status)
  expect(gateway.media.submits.at(-1)?.images).toHaveLength(2)
  await until('the files are gone', () => inputFiles(gateway).length === 0)
})

test('the files of a job stay while it runs', async () => {
  const answer = Promise.withResolvers<ReturnType<typeof images>>()
  gateway.media.submitted = answer.promise
  const reply = gateway.create(ada.key, { image: [dataUrl(png), dataUrl(jpeg)] })
  await until('the job is submitted', () => gateway.media.submits.length > submitsBefore)

  const files = inputFiles(gateway)
  answer.resolve(images(['pixels']))
  await reply
  gateway.media.submitted = images(['pixels'])

  expect(files).toHaveLength(2)
})

describe('POST /v1/images/edits', () => {
  test('POST /v1/images/edits is the same handler: the same parameters, references and billing', async () => {
    const before = await gateway.money(ada)

    const response = await gateway.create(
      ada.key,
      { image: dataUrl(png), n: 2, resolution: '2K' },
      { path: '/v1/images/edits' },
    )

    expect(await response.json()).toMatchObject({
      cost_usd: '0.04',
      data: [{ b64_json: expect.any(String) }],
    })
    expect(gateway.media.submits.at(-1)).toMatchObject({
      params: { aspect_ratio: '1:1', resolution: '2K' },
      images: [file(png, 'image/png')],
    })
    expect(Number(before.available) - Number((await gateway.money(ada)).available)).toBeCloseTo(0.04, 9)
  })

  test('POST /v1/images/edits does not require an image', async () => {
    const response = await gateway.create(ada.key, {}, { path: '/v1/images/edits' })

    expect(response.status).toBe(200)
  })
})
