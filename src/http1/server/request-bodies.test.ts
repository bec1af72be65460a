import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'bun:test'
import { startTestServer, type TestServer } from '../testing/test-server.ts'
import { postHead } from '../testing/http-text.ts'
import { turn } from '../testing/turn.ts'
import { rawConnection } from '../testing/raw-http.ts'
import { until } from '../testing/until.ts'
import type { ByteStream } from '../byte-stream.ts'
import type { ServerRequest } from './server-request.ts'

const MEGABYTE = 1 << 20
const LIMITS = { bytesMax: 1 << 30, idleMs: 30_000, totalMs: 100_000 }

let server: TestServer
afterEach(() => server.abort())

function serve(handle: (request: ServerRequest) => Promise<string>): TestServer {
  server = startTestServer(async request => ({ status: 200, headers: {}, body: await handle(request) }))
  return server
}

/** Writes as fast as the server takes it. */
async function upload(socket: Socket, pieces: number, piece: Uint8Array): Promise<void> {
  for (let count = 0; count < pieces; count += 1) {
    if (!socket.write(piece)) await new Promise(resolve => socket.once('drain', resolve))
  }
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname).on('error', () => undefined)
}

describe('a large body', () => {
  const SIZE = 256 * MEGABYTE
  const PIECE = Buffer.alloc(MEGABYTE, 'x')
  const CHUNK = Buffer.concat([Buffer.from(`${MEGABYTE.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')])

  test.each<[string, string, Buffer, string]>([
    ['with a length', postHead(`content-length: ${SIZE}`), PIECE, ''],
    ['in chunks', postHead('transfer-encoding: chunked'), CHUNK, '0\r\n\r\n'],
  ])('a large body is streamed %s, and a slow reader slows down its client', async (_, head, piece, end) => {
    let stream: ByteStream | undefined
    const done = Promise.withResolvers<void>()
    const { url } = serve(async request => {
      stream = request.stream(LIMITS)
      await done.promise
      return 'done'
    })
    const client = open(url)
    let response = ''
    client.on('data', text => (response += String(text)))
    client.write(head)
    const uploaded = upload(client, SIZE / MEGABYTE, piece).then(() => client.write(end))
    await until('the request runs', () => stream !== undefined)

    let before = -1
    let still = 0
    await until('the client can send no more', () => {
      still = client.bytesWritten - client.writableLength === before ? still + 1 : 0
      before = client.bytesWritten - client.writableLength
      return still > 300
    })
    const rss = process.memoryUsage().rss
    let length = 0
    let largest = 0
    let rssMax = 0
    let nextCheck = 0
    for (let bytes = await stream!.read(); bytes !== undefined; bytes = await stream!.read()) {
      length += bytes.length
      largest = Math.max(largest, bytes.length)
      if (length > nextCheck) {
        nextCheck += 16 * MEGABYTE
        Bun.gc(true)
        rssMax = Math.max(rssMax, process.memoryUsage().rss)
      }
    }
    await uploaded
    done.resolve()
    await until('it is answered', () => response.endsWith('done'))
    client.destroy()

    expect(before).toBeLessThan(32 * MEGABYTE)
    expect(length).toBe(SIZE)
    expect(largest).toBeLessThanOrEqual(MEGABYTE)
    expect(rssMax - rss).toBeLessThan(64 * MEGABYTE)
  })

  test('a large body is read as bytes', async () => {
    const { url } = serve(async request => String((await request.bytes(LIMITS)).length))
    const response = await fetch(url, { method: 'POST', body: Buffer.alloc(32 * MEGABYTE) })

    expect(await response.text()).toBe(String(32 * MEGABYTE))
  })
})

test('a client that waits for 100 Continue gets it when the stream is read', async () => {
  const { url } = serve(async request => {
    const stream = request.stream(LIMITS)
    return Buffer.from((await stream.read())!).toString()
  })
  const connection = rawConnection(url)
  await connection.write(postHead('content-length: 2', 'expect: 100-continue', 'connection: close'))
  await until('the server calls for the body', () => connection.received !== '')
  const called = connection.received
  await connection.write('hi')

  expect(called).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  expect(await connection.closed).toEndWith('\r\n\r\nhi')
})

test('a client that waits for 100 Continue gets the response of a handler that does not read', async () => {
  const { url } = serve(async () => 'no')
  const connection = rawConnection(url)
  await connection.write(postHead('content-length: 2', 'expect: 100-continue'))

  const response = await connection.response()

  expect(response).toStartWith('HTTP/1.1 200 ')
  expect(response).toContain('\r\nconnection: close\r\n')
  connection.leave()
})

test('a client that is still sending gets an early response, and no reset', async () => {
  const { url } = serve(async () => 'no')
  const connection = rawConnection(url)
  await connection.write(postHead(`content-length: ${8 * MEGABYTE}`))
  const response = await connection.response()
  for (let count = 0; count < 8; count += 1) await connection.write(new Uint8Array(MEGABYTE))

  expect(response).toContain('\r\nconnection: close\r\n')
  expect(response).toEndWith('no')
  expect(await connection.closed).toBe(response)
})

test('a connection serves again after an early response to a small body', async () => {
  const { url } = serve(async () => 'no')
  const connection = rawConnection(url)
  await connection.write(`${postHead(`content-length: ${MEGABYTE}`)}abc`)
  const first = await connection.response()
  await connection.write(Buffer.alloc(MEGABYTE - 3))
  await connection.write(postHead('content-length: 0', 'connection: close'))
  const both = await connection.closed

  expect(first).toEndWith('no')
  expect(both.match(/HTTP\/1.1 200/g)).toHaveLength(2)
})

test('a stream fails when its client disconnects', async () => {
  const lengths: (number | undefined)[] = []
  const testServer = serve(async request => {
    const stream = request.stream(LIMITS)
    for (;;) lengths.push((await stream.read())?.length)
  })
  const connection = rawConnection(testServer.url)
  await connection.write(`${postHead('content-length: 10')}abc`)
  await until('a part is read', () => lengths.length === 1)

  connection.leave()

  await until('the request has ended', () => testServer.ended === 1)
  expect(lengths).toEqual([3])
  expect(testServer.errors).toMatchObject([{ code: 'client_disconnected' }])
})

test('a body that stops fails, however long the handler has paused before', async () => {
  let stream: ByteStream | undefined
  const gate = Promise.withResolvers<void>()
  const testServer = serve(async request => {
    stream = request.stream(LIMITS)
    await gate.promise
    await stream.read()
    return String((await stream.read())?.length)
  })
  const connection = rawConnection(testServer.url)
  await connection.write(`${postHead('content-length: 10')}abc`)
  await until('the request runs', () => stream !== undefined)

  testServer.clock.advance(1_000_000)
  const before = testServer.ended
  gate.resolve()
  await turn()
  testServer.clock.advance(31_000)

  expect(before).toBe(0)
  expect(await connection.response()).toEndWith('body_timeout')
  connection.leave()
})
