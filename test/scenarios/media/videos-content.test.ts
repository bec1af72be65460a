import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Bytes } from '../../../src/domain/bytes.ts'
import type { TestAccount } from '../../support/gateway.ts'
import { aClip } from '../../support/scripted-media.ts'
import { tinyMp4 } from '../../support/tiny-mp4.ts'
import { refusalOf } from '../keys/refusal-of.ts'
import { startScriptedVideos } from '../gateways/video-gateway.ts'

const DAY_MS = 86_400_000
const CONTENT = Uint8Array.from({ length: 1000 }, (_, index) => index % 251)
/** Bytes behind the last box are ignored. */
const CLIP = Uint8Array.from([...tinyMp4(5000), ...CONTENT])

let gateway: Awaited<ReturnType<typeof startScriptedVideos>>
let ada: TestAccount
let path: string

/** A finished job with this clip; the path of the clip. */
async function finishedClip(bytes: Bytes, owner = ada): Promise<string> {
  const { id } = await gateway.accepted(owner.key, { model: 'family-a', prompt: 'A', duration: 5 })
  gateway.media.polled = aClip({ bytes, durationMs: 5000 })
  await gateway.poll(owner.key, id)
  return `/v1/videos/${id}/content`
}

beforeAll(async () => {
  gateway = await startScriptedVideos({ environment: { TOLLGATE_VIDEO_RETENTION_DAYS: '30' } })
  ada = await gateway.account({ grant: '100' })
})
beforeEach(async () => {
  path = await finishedClip(CLIP)
})
afterAll(() => gateway.stop())

const get = async (headers: Record<string, string> = {}, method = 'GET') => {
  const response = await gateway.get(ada.key, path, { method, headers })
  return {
    status: response.status,
    headers: response.headers,
    bytes: new Uint8Array(await response.arrayBuffer()),
  }
}

test('the clip has its media type, its length, an ETag, and accepts ranges', async () => {
  const { status, headers, bytes } = await get()

  expect([status, bytes]).toEqual([200, CLIP])
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': String(CLIP.length),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
  })
  expect(headers.has('transfer-encoding')).toBe(false)
})

test('HEAD has the same headers and no body', async () => {
  const [whole, head] = [await get(), await get({}, 'HEAD')]
  const shown = ({ headers }: typeof whole) =>
    Object.fromEntries([...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'))

  expect([head.status, head.bytes.length]).toEqual([200, 0])
  expect(shown(head)).toEqual(shown(whole))
})

test.each([
  ['bytes=0-0', 0, 1],
  ['bytes=0-99', 0, 100],
  ['bytes=500-', 500, CLIP.length],
  ['bytes=-10', CLIP.length - 10, CLIP.length],
  ['bytes=1000-99999', 1000, CLIP.length],
])('Range %s is 206 with that part', async (range, start, end) => {
  const { status, headers, bytes } = await get({ range })

  expect([status, bytes]).toEqual([206, CLIP.slice(start, end)])
  expect(headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${CLIP.length}`)
  expect(headers.get('content-length')).toBe(String(end - start))
  expect(headers.get('content-type')).toBe('video/mp4')
})

test.each([`bytes=${CLIP.length}-`, 'bytes=-0'])(
  'Range %s is 416 with the length of the clip',
  async range => {
    const { status, headers, bytes } = await get({ range })

    expect([status, headers.get('content-type')]).toEqual([416, 'application/json'])
    expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({
      error: { type: 'invalid_request_error', code: 'range_not_satisfiable' },
    })
    expect(headers.get('content-range')).toBe(`bytes */${CLIP.length}`)
  },
)

test.each(['bytes=0-1,5-6', 'bytes=9-1', 'lines=0-1', 'nonsense'])('Range %s is ignored', async range => {
  expect(await get({ range })).toMatchObject({ status: 200, bytes: CLIP })
})

test('HEAD ignores a range', async () => {
  const { status, headers } = await get({ range: 'bytes=0-1' }, 'HEAD')

  expect([status, headers.get('content-length')]).toEqual([200, String(CLIP.length)])
})

test('If-None-Match with the ETag is 304 without a body', async () => {
  const etag = (await get()).headers.get('etag')!

  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const { status, headers, bytes } = await get({ 'if-none-match': known, range: 'bytes=0-1' })
    expect([status, headers.get('etag'), bytes.length]).toEqual([304, etag, 0])
  }
  expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)
})

test('If-Range gives the part of the same clip, and the whole of another', async () => {
  const etag = (await get()).headers.get('etag')!
  const statusOf = async (ifRange: string) => (await get({ range: 'bytes=0-1', 'if-range': ifRange })).status

  expect(await statusOf(etag)).toBe(206)
  expect(await statusOf('"other"')).toBe(200)
  expect(await statusOf(`W/${etag}`)).toBe(200)
  expect(await statusOf('Thu, 01 Jan 2026 00:00:00 GMT')).toBe(200)
})

test('the media type is what the signature of the clip says', async () => {
  const typeOf = async (bytes: Bytes) => {
    const response = await gateway.get(ada.key, await finishedClip(bytes))
    await response.arrayBuffer()
    return response.headers.get('content-type')
  }

  const webm = Uint8Array.from([0x1a, 0x45, 0xdf, 0xa3, 0x42, 0x82, 0x84, ...Buffer.from('webm')])
  expect(await typeOf(webm)).toBe('video/webm')
  expect(await typeOf(tinyMp4(5000))).toBe('video/mp4')
})

describe('a clip that cannot be read', () => {
  test('the clip of a job that runs is 409 video_not_ready', async () => {
    gateway.media.polled = { outcome: 'running', upstreamStatus: 'running', isKnownStatus: true }
    const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A' })

    const response = await gateway.get(ada.key, `/v1/videos/${id}/content`)

    expect(await refusalOf(response)).toMatchObject({
      status: 409,
      code: 'video_not_ready',
      type: 'conflict_error',
    })
  })

  test('the clip of a job that failed is 409 video_not_ready, and a repeat cannot help', async () => {
    const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A' })
    gateway.media.polled = { outcome: 'failed', code: 'NO', message: 'No.' }
    await gateway.poll(ada.key, id)

    const response = await gateway.get(ada.key, `/v1/videos/${id}/content`)

    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await refusalOf(response)).toMatchObject({ status: 409, code: 'video_not_ready' })
  })

  test('the clip of a job that its provider has finished since is available at once', async () => {
    gateway.media.polled = { outcome: 'running', upstreamStatus: 'running', isKnownStatus: true }
    const { id } = await gateway.accepted(ada.key, { model: 'family-a', prompt: 'A' })
    gateway.media.polled = aClip({ bytes: CLIP, durationMs: 5000 })
    gateway.clock.advance(2000)

    expect((await gateway.get(ada.key, `/v1/videos/${id}/content`)).status).toBe(200)
  })

  test('a clip past TOLLGATE_VIDEO_RETENTION_DAYS is 410 content_archived; the job and its money stay', async () => {
    const bob = await gateway.account({ grant: '1' })
    const archived = await finishedClip(CLIP, bob)
    const job = archived.replace('/content', '')
    gateway.clock.setWallClock(gateway.clock.now() + 30 * DAY_MS)
    await gateway.admin('POST', 'reconcile')

    const response = await gateway.get(bob.key, archived)

    expect(await refusalOf(response)).toMatchObject({ status: 410, code: 'content_archived' })
    expect(await (await gateway.get(bob.key, job)).json()).toMatchObject({
      status: 'completed',
      cost_usd: '0.5',
      data: [],
      archived: true,
    })
    expect((await bob.balance()).available_usd).toBe('0.5')
  })
})

test('with a retention of 0, the next pass archives a clip, but not in the second in which it was made', async () => {
  const forgetting = await startScriptedVideos({ environment: { TOLLGATE_VIDEO_RETENTION_DAYS: '0' } })
  const { key } = await forgetting.account({ grant: '100' })
  const { id } = await forgetting.accepted(key, { model: 'family-a', prompt: 'A' })
  forgetting.media.polled = aClip({ bytes: CLIP, durationMs: 5000 })
  await forgetting.poll(key, id)
  const statusAfterPass = async () => {
    await forgetting.admin('POST', 'reconcile')
    return (await forgetting.get(key, `/v1/videos/${id}/content`)).status
  }

  const atOnce = await statusAfterPass()
  forgetting.clock.setWallClock(forgetting.clock.now() + 1001)
  const later = await statusAfterPass()

  await forgetting.stop()
  expect({ atOnce, later }).toEqual({ atOnce: 200, later: 410 })
})

test('clips are kept without a limit by default', async () => {
  const keeping = await startScriptedVideos()
  const { key } = await keeping.account({ grant: '100' })
  const { id } = await keeping.accepted(key, { model: 'family-a', prompt: 'A' })
  keeping.media.polled = aClip({ bytes: CLIP, durationMs: 5000 })
  await keeping.poll(key, id)
  keeping.clock.setWallClock(keeping.clock.now() + 10 * 365 * DAY_MS)
  await keeping.admin('POST', 'reconcile')

  const { status } = await keeping.get(key, `/v1/videos/${id}/content`)

  await keeping.stop()
  expect(status).toBe(200)
})
