import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rejection } from '../testing/rejection.ts'
import { fakeClock, type FakeClock } from '../testing/fake-clock.ts'
import { shortLivedPieces } from '../testing/short-lived-pieces.ts'
import { refusedUrl } from '../testing/upstream.ts'
import type { ByteStream } from '../byte-stream.ts'
import { Timers } from '../timers.ts'
import { fetchClient } from './fetch-client.ts'
import { httpClient, type HttpClient, type SendOptions } from './http-client.ts'
import { httpRequest } from './http-request.ts'
import { turns } from '../testing/turn.ts'

const MEGABYTE = 1024 * 1024

describe.each([
  ['over sockets', httpClient],
  ['by way of fetch', fetchClient],
])('%s', (_, open) => {
  let server: ReturnType<typeof Bun.serve>
  let http: HttpClient
  let clock: FakeClock
  let aborted: PromiseWithResolvers<void>

  beforeEach(() => {
    clock = fakeClock()
    http = open(new Timers(clock))
    aborted = Promise.withResolvers()
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      maxRequestBodySize: 1024 * MEGABYTE,
      routes: {
        '/echo': async request => {
          const body = await request.bytes()
          const framing = request.headers.has('transfer-encoding') ? 'chunked' : 'length'
          const headers = { 'x-method': request.method, 'x-framing': framing, 'x-sent': String(body.length) }
          return new Response(body, { headers })
        },
        '/silent': request => {
          request.signal.addEventListener('abort', () => aborted.resolve())
          return new Promise<Response>(() => {})
        },
        '/stalled': request => {
          request.signal.addEventListener('abort', () => aborted.resolve())
          return new Response(
            new ReadableStream({ start: controller => controller.enqueue(new Uint8Array(10)) }),
          )
        },
        '/moved': Response.redirect('http://127.0.0.1:1/', 307),
      },
    })
  })

  afterEach(async () => {
    http.close()
    await server.stop(true)
    expect(clock.waiting).toBe(0)
  })

  const send = (path: string, { method = 'POST', ...options }: SendOptions & { method?: string } = {}) =>
    http.send(httpRequest({ method, url: new URL(`http://127.0.0.1:${server.port}${path}`) }), options)

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'a %s request needs no body',
    async method => {
      const response = await send('/echo', { method })

      expect(response.status).toBe(200)
      expect(response.headers.get('x-method')).toBe(method)
      expect(await response.read()).toBeUndefined()
    },
  )

  test('the response to a HEAD request has no body, even if it declares one', async () => {
    const head = await send('/moved', { method: 'HEAD' })
    expect(await head.read()).toBeUndefined()

    const next = await send('/echo', { body: 'next' })

    expect((await next.readAll(10)).toString()).toBe('next')
  })

  test('text is sent in UTF-8, and bytes as they are', async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 256)

    const text = await send('/echo', { body: 'Grüße 😀' })
    const binary = await send('/echo', { method: 'PUT', body: bytes })

    expect((await text.readAll(100)).toString()).toBe('Grüße 😀')
    expect(Bun.hash(await binary.readAll(bytes.length))).toBe(Bun.hash(bytes))
    expect(binary.headers.get('x-framing')).toBe('length')
  })

  test('an empty text is a body of length 0', async () => {
    const response = await send('/echo', { body: '' })

    expect(response.headers.get('x-sent')).toBe('0')
    await response.readAll(0)
  })

  test('a stream is sent in chunks', async () => {
    const response = await send('/echo', { body: { stream: streamOf(['abc', 'defg', 'h']) } })

    expect((await response.readAll(100)).toString()).toBe('abcdefgh')
    expect(response.headers.get('x-framing')).toBe('chunked')
  })

  test('a stream of a known length is sent with that', async () => {
    const response = await send('/echo', { body: { stream: streamOf(['abc', 'defg', 'h']), length: 8 } })

    expect((await response.readAll(100)).toString()).toBe('abcdefgh')
    expect(response.headers.get('x-sent')).toBe('8')
  })

  test('a stream that the server takes more slowly than it is read arrives as it was', async () => {
    const pieces = Array.from({ length: 32 }, (_, number) => new Uint8Array(MEGABYTE).fill(number))

    const response = await send('/echo', { body: { stream: streamOf(pieces) } })

    const echoed = await response.readAll(pieces.length * MEGABYTE)
    expect(Buffer.concat(pieces).equals(echoed)).toBe(true)
  })

  test('a stream is read no faster than it is sent', async () => {
    const started = Promise.withResolvers<void>()
    const paused = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.pause()
          started.resolve()
        },
      },
    })
    let read = 0
    const give = shortLivedPieces()
    const stream = {
      read: async () => {
        if (read === 256) return give(undefined)
        read += 1
        return give(new Uint8Array(MEGABYTE))
      },
      cancel() {},
    }
    const controller = new AbortController()
    const url = new URL(`http://127.0.0.1:${paused.port}`)
    const sent = http.send(httpRequest({ method: 'PUT', url }), {
      body: { stream },
      signal: controller.signal,
    })
    await started.promise

    for (let before = -1; before !== read;) {
      before = read
      await turns(200)
    }

    expect(read).toBeLessThan(128)
    controller.abort()
    expect(await rejection(sent)).toMatchObject({ code: 'ABORT_ERR' })
    paused.stop(true)
  })

  test.each([
    ['shorter', 9],
    ['longer', 7],
  ])('a stream that is %s than declared fails, and is not sent as if it were whole', async (_, length) => {
    const stream = streamOf(['abc', 'defg', 'h'])

    const sent = send('/echo', { body: { stream, length } })

    expect(await codeOf(sent)).toBe('REQUEST_BODY_LENGTH')
    expect(stream.isCancelled).toBe(true)
  })

  test('a stream that breaks off fails the request', async () => {
    const broken = Object.assign(new Error('broken'), { code: 'EIO' })
    const stream = { read: () => Promise.reject(broken), cancel() {} }

    expect(await codeOf(send('/echo', { body: { stream } }))).toBe('EIO')
  })

  test('the stream of a request that cannot be sent is cancelled', async () => {
    const stream = streamOf(['abc'])
    const request = httpRequest({ method: 'PUT', url: new URL(refusedUrl()) })

    expect(await codeOf(http.send(request, { body: { stream } }))).toBe('ECONNREFUSED')

    expect(stream.isCancelled).toBe(true)
  })

  test('a response that is too long is cancelled', async () => {
    const declared = await send('/echo', { body: 'abcdef' })
    const stalled = await send('/stalled')

    expect(await codeOf(declared.readAll(5))).toBe('RESPONSE_TOO_LARGE')
    expect(await codeOf(stalled.readAll(5))).toBe('RESPONSE_TOO_LARGE')
    await aborted.promise
  })

  test('a redirect is not followed', async () => {
    const response = await send('/moved', { body: 'secret' })

    expect(response.status).toBe(307)
    await response.readAll(100)
  })

  test('a response that is not whole in time is aborted', async () => {
    const response = await send('/stalled', { timeoutMs: 1000 })
    const reading = codeOf(response.readAll(1000))

    clock.advance(1000)

    expect(await reading).toBe('RESPONSE_TIMEOUT')
    await aborted.promise
  })

  test('a request that gets no response in time is aborted', async () => {
    const sent = codeOf(send('/silent', { timeoutMs: 1000 }))
    await turns(50)

    clock.advance(1000)

    expect(await sent).toBe('RESPONSE_TIMEOUT')
  })

  test('a signal aborts the request, and the response', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const response = await send('/stalled', { signal })
    await response.read()
    const reading = codeOf(response.read())
    const sent = codeOf(send('/silent', { signal }))
    await turns(50)

    controller.abort()

    expect(await reading).toBe('ABORT_ERR')
    expect(await sent).toBe('ABORT_ERR')
    expect(await codeOf(send('/echo', { signal }))).toBe('ABORT_ERR')
  })
})

test.each<[string, () => unknown, string]>([
  ['a method with a space', () => httpRequest({ method: 'GE T', url: new URL('http://a') }), 'token'],
  ['an empty method', () => httpRequest({ method: '', url: new URL('http://a') }), 'token'],
  ['CONNECT', () => httpRequest({ method: 'CONNECT', url: new URL('http://a') }), 'CONNECT'],
  ['a URL of another scheme', () => httpRequest({ method: 'GET', url: new URL('ftp://a') }), 'http'],
  [
    'another address than that of the URL',
    () => httpRequest({ method: 'GET', url: new URL('http://10.0.0.1'), pinnedAddress: '10.0.0.2' }),
    'address',
  ],
])('%s is refused', (_, make, message) => {
  expect(make).toThrow(TypeError)
  expect(make).toThrow(message)
})

test('fetch refuses a pinned address, because a proxy would resolve the name', async () => {
  const http = fetchClient(new Timers(fakeClock()))
  const url = new URL('http://provider.invalid')

  const sent = http.send(httpRequest({ method: 'GET', url, pinnedAddress: '127.0.0.1' }))

  expect(await codeOf(sent)).toBe('ADDRESS_NEEDS_DIRECT_CONNECTION')
})

/** Each read overwrites the piece before. */
function streamOf(pieces: readonly (string | Uint8Array)[]): ByteStream & { readonly isCancelled: boolean } {
  const left = pieces.map(piece => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const give = shortLivedPieces()
  return {
    isCancelled: false,
    read: async () => give(left.shift()),
    cancel() {
      Object.assign(this, { isCancelled: true })
    },
  }
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: Error & { code?: unknown }) => error.code,
  )
}
