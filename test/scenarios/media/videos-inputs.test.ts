import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { imageNames, videoNames } from '../../../src/protocol/media/media-body.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip, RUNNING, type RecordedInput } from '../../support/scripted-media.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { until } from '../../support/until.ts'
import { startScriptedVideos, videoModel } from '../gateways/video-gateway.ts'

const MEGABYTE = 1024 * 1024
const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../../fixtures/media', name))
const png = fixture('image.png')
const mp4 = fixture('clip.mp4')

/** Never reached, even where private addresses are allowed: an address of metadata services. */
const FORBIDDEN = 'http://169.254.169.254/image.png'

const KLING = { kind: 'kling', api_key: 'access,secret' }

let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
let site: ReturnType<typeof Bun.serve>
let ada: TestAccount
let requests: { readonly path: string; readonly agent: string | null }[] = []
let release = Promise.withResolvers<void>()

beforeAll(async () => {
  site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: serve })
  gateway = await startScriptedVideos({
    environment: { TOLLGATE_ALLOW_PRIVATE_UPSTREAMS: 'on' },
    providers: [
      { id: 'inside', ...KLING, base_url: 'http://127.0.0.1:1' },
      { id: 'trusted', ...KLING, base_url: 'http://127.0.0.1:1', send_links: 'always' },
      { id: 'careful', ...KLING, base_url: 'http://93.184.215.14', send_links: 'never' },
    ],
    models: ['inside', 'trusted', 'careful'].map(provider =>
      videoModel(`${provider}-film`, { upstreams: [{ provider, model: 'film' }] }),
    ),
  })
  ada = await gateway.account({ grant: '10000' })
})
afterAll(async () => {
  await gateway.stop()
  await site.stop(true)
})
beforeEach(() => {
  requests = []
  release = Promise.withResolvers()
  gateway.media.polled = RUNNING
})

async function serve(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  requests.push({ path: pathname, agent: request.headers.get('user-agent') })
  switch (pathname) {
    case '/image.png':
      return new Response(png)
    case '/clip.mp4':
      return new Response(mp4, { headers: { 'content-type': 'text/plain' } })
    case '/hop/0':
    case '/moved':
      return Response.redirect(`${site.url}image.png`, 302)
    case '/hop/1':
    case '/hop/2':
    case '/hop/3':
    case '/hop/4':
    case '/hop/5':
      return Response.redirect(`${site.url}hop/${Number(pathname.at(-1)) - 1}`, 302)
    case '/to-metadata':
      return Response.redirect(FORBIDDEN, 302)
    case '/page':
      return new Response('<html>', { headers: { 'content-type': 'image/png' } })
    case '/empty':
      return new Response('')
    case '/large':
      return new Response(new Blob([png, new Uint8Array(80 * MEGABYTE)]))
    case '/slow':
      await release.promise
      return new Response(png)
    default:
      return new Response('gone', { status: Number(pathname.slice(1)) || 404 })
  }
}

const at = (path: string) => `${site.url.href.replace(/\/$/, '')}${path}`
const bytes = (content: Uint8Array, mediaType: string): RecordedInput => ({
  from: 'bytes',
  mediaType,
  content: Buffer.from(content),
})
const PNG = bytes(png, 'image/png')
const MP4 = bytes(mp4, 'video/mp4')
const link = (url: string): RecordedInput => ({ from: 'url', url })

/** What the provider gets of a request. */
async function submitOf(body: object) {
  const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A', ...body })
  const { images, videos, jobId } = gateway.media.submits.at(-1)!
  expect(jobId).toBe(id)
  return { id, images, videos }
}

/** The files in the blob store whose names contain this. */
function blobs(name: string): string[] {
  const folder = join(gateway.dataDir, 'blobs', 'live')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => path.includes(name))
}

describe('input aliases', () => {
  test.each([...imageNames])('%s is an image', async name => {
    expect((await submitOf({ [name]: at('/image.png') })).images).toEqual([PNG])
  })

  test.each([...videoNames])('%s is a video', async name => {
    expect((await submitOf({ [name]: at('/clip.mp4') })).videos).toEqual([MP4])
  })

  test('inputs under several names are joined in the order of the contract', async () => {
    const { images, videos } = await submitOf({
      ref_images: ['third-uuid-1'],
      image_url: 'second-uuid-1',
      image: 'first-uuid-1',
      motion_video: 'second-video-1',
      video: 'first-video-1',
    })

    const ids = [...images, ...videos].map(input => (input.from === 'provider_id' ? input.id : input.from))
    expect(ids).toEqual(['first-uuid-1', 'second-uuid-1', 'third-uuid-1', 'first-video-1', 'second-video-1'])
  })
})

describe('input modes, chosen by the fields of the body', () => {
  test.each([
    ['prompt alone is text-to-video', 'family-a', {}, [[], []]],
    ['prompt plus image is image-to-video', 'family-a', { image: 'image-uuid-1' }, [['image-uuid-1'], []]],
    ['prompt plus video is an edit', 'family-b-edit', { video: 'video-uuid-1' }, [[], ['video-uuid-1']]],
    [
      'prompt plus image and video is motion control',
      'family-b-motion',
      { image: 'image-uuid-1', video: 'video-uuid-1' },
      [['image-uuid-1'], ['video-uuid-1']],
    ],
  ])('%s', async (_, model, inputs, expected) => {
    const { images, videos } = await submitOf({ model, ...inputs })

    const ids = (given: readonly RecordedInput[]) =>
      given.map(input => (input.from === 'provider_id' ? input.id : ''))
    expect([ids(images), ids(videos)]).toEqual(expected as string[][])
  })
})

describe('input forms', () => {
  const base64 = (content: Uint8Array) => Buffer.from(content).toString('base64')
  const uuid = '550e8400-e29b-41d4-a716-446655440000'

  test('a data URL and bare base64 are bytes, known by their signature', async () => {
    const dataUrl = `data:application/x-anything;base64,${base64(png)}`

    expect(await submitOf({ image: dataUrl, video: base64(mp4) })).toMatchObject({
      images: [PNG],
      videos: [MP4],
    })
  })

  test('base64 of an unknown format is bytes too: the model may know it', async () => {
    const content = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg">')

    expect((await submitOf({ image: base64(content) })).images).toEqual([
      bytes(content, 'application/octet-stream'),
    ])
  })

  test('a provider-side uuid is passed on', async () => {
    expect((await submitOf({ image: uuid })).images).toEqual([{ from: 'provider_id', id: uuid }])
  })

  test('an array has several, of any form', async () => {
    const image = [uuid, base64(png), at('/image.png'), `data:image/png;base64,${base64(png)}`]

    expect((await submitOf({ image })).images).toEqual([{ from: 'provider_id', id: uuid }, PNG, PNG, PNG])
  })

  test('a value that is none of these is dropped', async () => {
    expect((await submitOf({ image: ['what is this?', '', 'ftp://host/x.png', 7, null] })).images).toEqual([])
  })

  test('rule 3: a file of more than 80 MB, decoded, is 400 before the provider; no file stays', async () => {
    const large = Buffer.concat([png, new Uint8Array(80 * MEGABYTE)]).toString('base64')
    const before = gateway.media.submits.length

    const response = await gateway.create(ada.key, {
      model: 'family-a',
      prompt: 'A',
      image: [base64(png), large],
    })

    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'invalid_field', param: 'image' })
    expect(gateway.media.submits).toHaveLength(before)
    expect(blobs('.in-').filter(name => !isKnown(name))).toEqual([])
  })

  /** Whether a file is an input of a job that the provider got. */
  function isKnown(name: string): boolean {
    return gateway.media.submits.some(({ jobId }) => name.includes(jobId))
  }
})

describe('rule 1: links', () => {
  test('links are fetched by the gateway, with its own User-Agent', async () => {
    const { images, videos } = await submitOf({ image: at('/image.png'), video: at('/clip.mp4') })

    expect({ images, videos }).toEqual({ images: [PNG], videos: [MP4] })
    expect(requests.map(({ agent }) => agent)).toEqual([
      expect.stringMatching(/^tollgate\/\d/),
      expect.stringMatching(/^tollgate\/\d/),
    ])
  })

  test('links are fetched through redirects', async () => {
    expect((await submitOf({ image: at('/moved') })).images).toEqual([PNG])
  })

  test.each([
    ['that answer 404', '/404'],
    ['that answer 500', '/500'],
    ['whose body is no media, whatever its type says', '/page'],
    ['with an empty body', '/empty'],
    ['to more than 80 MB', '/large'],
    ['that redirect to an internal address', '/to-metadata'],
  ])('%s go to the provider as they are', async (_, path) => {
    const url = at(path)

    const { id, images } = await submitOf({ image: [url, at('/image.png')] })

    expect(images).toEqual([link(url), PNG])
    expect(blobs(id)).toHaveLength(1)
  })

  test('links whose body breaks off go to the provider unchanged', async () => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${png.length + 1}\r\n\r\n`
    const cut = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: socket => void socket.end(Buffer.concat([Buffer.from(head), png])) },
    })
    const url = `http://127.0.0.1:${cut.port}/image.png`

    const { id, images } = await submitOf({ image: url })

    cut.stop(true)
    expect(images).toEqual([link(url)])
    expect(blobs(id)).toEqual([])
  })

  test.each([
    ['to an internal address', FORBIDDEN],
    ['with a user name', 'http://user:secret@93.184.215.14/image.png'],
    ['to a host that does not exist', 'http://nowhere.invalid/image.png'],
    ['that cannot be read', 'http://[::1'],
  ])('%s go to the provider as they are', async (_, url) => {
    expect((await submitOf({ image: url })).images).toEqual([link(url)])
  })

  test('links beyond the 32nd go to the provider as they are', async () => {
    const image = Array.from({ length: 34 }, () => at('/image.png'))

    const { images } = await submitOf({ image })

    expect(images.map(({ from }) => from)).toEqual([...Array(32).fill('bytes'), 'url', 'url'])
  })

  test('links that answer too slowly go to the provider as they are, after 60 s for all together', async () => {
    const timersBefore = gateway.clock.waiting
    const body = { model: 'family-a', prompt: 'A', image: [at('/slow'), at('/image.png')] }
    const reply = gateway.create(ada.key, body)
    await until('both are being fetched', () => requests.length === 2)
    await until('the request waits', () => gateway.clock.waiting > timersBefore)
    gateway.clock.advance(60_000)

    const { status } = await reply

    expect(status).toBe(202)
    expect(gateway.media.submits.at(-1)!.images[0]).toEqual(link(at('/slow')))
  })

  test("links are fetched as the job's work: a client that leaves does not stop them", async () => {
    const leaving = new AbortController()
    const before = gateway.media.submits.length
    const left = fetch(`${gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { 'x-api-key': ada.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'family-a', prompt: 'A', image: at('/slow') }),
      signal: leaving.signal,
    }).catch(() => 'left')
    await until('the link is being fetched', () => requests.length === 1)
    leaving.abort()
    await left
    release.resolve()

    await until('the job is submitted', () => gateway.media.submits.length > before)

    expect(gateway.media.submits.at(-1)!.images).toEqual([PNG])
  })

  test('fetched links are files of the job afterwards, which go when the job ends', async () => {
    const { id } = await submitOf({
      image: [at('/image.png'), png.toString('base64')],
      video: at('/clip.mp4'),
    })
    const whileRunning = blobs(id)
    gateway.media.polled = aClip({ durationMs: 5000 })
    await gateway.poll(ada.key, id)
    await until('the inputs are gone', () => blobs(id).length === 1)

    expect(whileRunning).toHaveLength(3)
    expect(blobs(id)[0]).toContain('.out-0')
  })
})

describe('a provider in a private network', () => {
  const create = (image: unknown) => gateway.create(ada.key, { model: 'inside-film', prompt: 'A', image })

  test.each([
    ['to an internal address', () => FORBIDDEN],
    ['that redirects to an internal address', () => at('/to-metadata')],
    ['that redirects six times', () => at('/hop/5')],
    ['that cannot be downloaded', () => at('/404')],
    ['to something other than media', () => at('/page')],
    ['to an empty file', () => at('/empty')],
    ['to localhost, written as a full name', () => 'http://localhost./image.png'],
    ['to a metadata service', () => 'http://metadata.google.internal/computeMetadata/v1/'],
    ['to a bare name', () => 'http://intranet/image.png'],
    ['to a host that does not exist', () => 'http://nowhere.invalid/image.png'],
    ['that cannot be read', () => 'http://[::1'],
  ])('a link %s is 400 for a private provider: the job failed, and nothing is held', async (_, url) => {
    const bob = await gateway.account({ grant: '5' })
    const before = gateway.media.submits.length

    const response = await gateway.create(bob.key, {
      model: 'inside-film',
      prompt: 'A',
      image: [at('/image.png'), url()],
    })

    const body = (await response.json()) as { id: string }
    expect(response.status).toBe(400)
    expect(body).toMatchObject({
      error: { type: 'invalid_request_error', code: 'FILE_DOWNLOAD_FAILED' },
      cost_usd: '0',
    })
    expect(gateway.media.submits).toHaveLength(before)
    expect(await gateway.money(bob)).toEqual({ available: '5', held: '0' })
    expect((await gateway.poll(bob.key, body.id)).status).toBe('failed')
    expect(blobs(body.id)).toEqual([])
  })

  test('a provider in a private network never gets a link that was not looked at', async () => {
    const before = gateway.media.submits.length

    const response = await create(Array.from({ length: 33 }, () => at('/404')))

    expect(response.status).toBe(400)
    expect(gateway.media.submits).toHaveLength(before)
  })

  test('a provider in a private network gets the files that were fetched, through at most five redirects', async () => {
    const response = await create([at('/image.png'), at('/hop/4')])

    expect(response.status).toBe(202)
    expect(gateway.media.submits.at(-1)!.images).toEqual([PNG, PNG])
  })
})

describe('send_links', () => {
  test.each([['/404'], ['/to-metadata'], ['/hop/5']])(
    'with send_links always, a provider in a private network gets the link to %s as it is',
    async path => {
      const { images } = await submitOf({ model: 'trusted-film', image: [at(path), at('/image.png')] })

      expect(images).toEqual([link(at(path)), PNG])
    },
  )

  test('with send_links never, a provider at a public address gets files only, and a link that is no file is 400', async () => {
    const before = gateway.media.submits.length

    const { images } = await submitOf({ model: 'careful-film', image: at('/image.png') })
    const refused = await gateway.create(ada.key, {
      model: 'careful-film',
      prompt: 'A',
      image: at('/404'),
    })

    expect(images).toEqual([PNG])
    expect(await refusalOf(refused)).toMatchObject({ status: 400, code: 'FILE_DOWNLOAD_FAILED' })
    expect(gateway.media.submits).toHaveLength(before + 1)
  })
})
