import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { streamOf } from '../../../test/support/byte-streams.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { bytesInput } from '../../../test/support/media-calls.ts'
import { openAiImagesProvider } from '../../../test/support/media-providers.ts'
import {
  answer,
  gzip,
  json,
  resetAfterHeaders,
  resetBeforeHeaders,
  shortBody,
} from '../../../test/support/upstream-replies.ts'
import { refusedUrl, startUpstream, type Upstream } from '../../../test/support/upstream.ts'
import { fetchClient } from '../../http1/client/fetch-client.ts'
import { httpClient, type HttpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { joinedBody } from './request-bodies.ts'
import { mediaHttp, type MediaReply, type MediaRequest } from './media-http.ts'

let upstream: Upstream
beforeEach(() => {
  upstream = startUpstream()
})
afterEach(() => upstream.close())

describe.each<[string, (timers: Timers) => HttpClient]>([
  ['our own sockets', httpClient],
  ['fetch', fetchClient],
])('a request over %s', (_, open) => {
  function send(change: Partial<MediaRequest> = {}): Promise<MediaReply> {
    return mediaHttp(open(new Timers(fakeClock())))({
      provider: openAiImagesProvider(upstream.baseUrl),
      method: 'POST',
      url: new URL(`${upstream.baseUrl}/images`),
      headers: new Headers({ authorization: 'Bearer k' }),
      timeoutMs: 10_000,
      ...change,
    })
  }

  test('a request returns the whole answer with any status', async () => {
    upstream.reply(json({ error: 1 }, { status: 409 }))

    const reply = await send({ body: '{"a":"ü"}' })

    expect(reply).toMatchObject({ reply: 'answer', status: 409, body: '{"error":1}' })
    expect(upstream.requests[0]?.json()).toEqual({ a: 'ü' })
    expect(upstream.requests[0]?.headers['authorization']).toBe('Bearer k')
  })

  test('a request sends parts as they are read, with their length', async () => {
    const image = new Uint8Array(300_000).fill(7)
    upstream.reply(json({}))

    await send({ body: joinedBody(['start', bytesInput(image, 'image/png', 64_000), 'end']) })

    const [request] = upstream.requests
    expect(request?.headers['content-length']).toBe('300008')
    expect(request?.body).toEqual(Buffer.concat([Buffer.from('start'), image, Buffer.from('end')]))
  })

  test.each([
    ['12', 12],
    ['0', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
  ])('a request reads the time to wait %j as %j seconds', async (header, seconds) => {
    upstream.reply(json({}, { status: 429, headers: { 'retry-after': header } }))

    expect((await send()) as { retryAfterS?: number }).toMatchObject({ status: 429 })
    expect(((await send()) as { retryAfterS?: number }).retryAfterS).toBe(seconds)
  })

  test('a request decompresses an answer', async () => {
    upstream.reply(gzip({ data: [] }))

    expect(await send()).toMatchObject({ reply: 'answer', body: '{"data":[]}' })
  })

  test('a request returns a body that is not UTF-8 as text that is not JSON', async () => {
    upstream.reply(answer(new Uint8Array([0x7b, 0xff, 0x7d])))

    const reply = await send()

    expect(() => JSON.parse(reply.reply === 'answer' ? reply.body : '{}') as unknown).toThrow()
  })

  test.each([
    ['before an answer', resetBeforeHeaders()],
    ['in an answer', resetAfterHeaders()],
    ['before the end of a body', shortBody('{"data":[]}')],
  ])('a request that breaks %s may have been received', async (_, reply) => {
    upstream.reply(reply)

    expect(await send({ body: '{}' })).toMatchObject({ reply: 'none', isSent: true })
    expect(upstream.requests.length).toBe(1)
  })

  test('a request to a port on which nothing listens was not received', async () => {
    expect(await send({ url: new URL(refusedUrl()), body: '{}' })).toMatchObject({
      reply: 'none',
      isSent: false,
    })
  })

  test('a request whose input breaks off never arrives completely', async () => {
    const input = { ...bytesInput(new Uint8Array(1000)), open: async () => streamOf([new Uint8Array(10)]) }

    const reply = await send({ body: joinedBody(['start', input]) })

    expect(reply).toMatchObject({ reply: 'none', isSent: true })
    expect(upstream.requests).toEqual([])
  })
})

test('a URL that no request can be made of is not sent', async () => {
  const send = mediaHttp(httpClient(new Timers(fakeClock())))

  const reply = await send({
    provider: openAiImagesProvider(''),
    method: 'GET',
    url: new URL('ftp://example.com/'),
    headers: new Headers(),
    timeoutMs: 1000,
  })

  expect(reply).toMatchObject({ reply: 'none', isSent: false })
})
