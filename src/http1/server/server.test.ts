import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'bun:test'
import { startTestServer, type TestServer } from '../testing/test-server.ts'
import { turn } from '../testing/turn.ts'
import { rawConnection, rawRequest } from '../testing/raw-http.ts'
import { until } from '../testing/until.ts'
import type { ServerRequest } from './server-request.ts'
import type { ServerResponse } from './response-writer.ts'

const GET = 'GET / HTTP/1.1\r\nhost: h\r\n\r\n'
const hello: ServerResponse = { status: 200, headers: {}, body: 'hello' }

let server: TestServer
afterEach(() => server.abort())

function serve(
  handle: (request: ServerRequest) => Promise<ServerResponse>,
  options: { readonly connectionsMax?: number } = {},
): TestServer {
  server = startTestServer(handle, options)
  return server
}

/** A stream without an end, and how much of it was read. */
function endless() {
  const stream = {
    readBytes: 0,
    isCancelled: false,
    body: {
      async read() {
        stream.readBytes += 64 * 1024
        // Without a pause, such a stream would keep the event loop busy.
        await turn()
        return new Uint8Array(64 * 1024)
      },
      cancel: () => void (stream.isCancelled = true),
    },
  }
  return stream
}

test('the address of a client is still known after it has left', async () => {
  const addresses: string[] = []
  let isRunning = false
  const testServer = serve(async request => {
    isRunning = true
    await new Promise(resolve => {
      request.signal.addEventListener('abort', resolve)
    })
    addresses.push(request.remoteAddress)
    return hello
  })
  const connection = rawConnection(testServer.url)
  await connection.write(GET)
  await until('the request runs', () => isRunning)

  connection.leave()
  await until('the request has ended', () => testServer.ended === 1)

  expect(addresses).toEqual(['127.0.0.1'])
})

test('a response has a date and a length', async () => {
  const { url, clock } = serve(async () => ({ ...hello, headers: { x: 'y' } }))
  clock.advance(5000)

  const response = await rawRequest(url, GET)

  const date = new Date(clock.now()).toUTCString()
  expect(response).toBe(`HTTP/1.1 200 OK\r\nx: y\r\ndate: ${date}\r\ncontent-length: 5\r\n\r\nhello`)
})

test('a client that reads nothing of an endless stream costs only what its socket holds', async () => {
  const stream = endless()
  const { url } = serve(async () => ({ status: 200, headers: {}, body: stream.body }))
  const { hostname, port } = new URL(url)
  const client = connect(Number(port), hostname)
  client.pause()
  client.write(GET)
  await until('the stream is read', () => stream.readBytes > 0)

  let before = -1
  let still = 0
  await until('the stream is no longer read', () => {
    still = stream.readBytes === before ? still + 1 : 0
    before = stream.readBytes
    return still > 300
  })
  const rss = process.memoryUsage().rss
  for (let turns = 0; turns < 300; turns += 1) await turn()
  client.destroy()
  await until('the stream is cancelled', () => stream.isCancelled)

  expect(stream.readBytes).toBeLessThan(before + 2 * 64 * 1024)
  expect(before).toBeLessThan(64 << 20)
  expect(process.memoryUsage().rss - rss).toBeLessThan(32 << 20)
})

describe('the signal of a request', () => {
  test.each(['closes', 'resets', 'closes its half of'])(
    'the signal of a request aborts when the client %s the connection',
    async how => {
      let signal: AbortSignal | undefined
      const testServer = serve(async request => {
        signal = request.signal
        await new Promise(resolve => signal!.addEventListener('abort', resolve))
        return hello
      })
      const { hostname, port } = new URL(testServer.url)
      const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
      client.on('error', () => undefined)
      client.write(GET)
      await until('the request runs', () => signal !== undefined)

      if (how === 'closes') client.destroy()
      else if (how === 'resets') client.resetAndDestroy()
      else client.end()

      await until('the request has ended', () => testServer.ended === 1)
      expect(signal!.aborted).toBe(true)
      client.destroy()
    },
  )

  test('the signal of a request does not abort when the client disconnects after the response', async () => {
    let signal: AbortSignal | undefined
    const testServer = serve(async request => {
      signal ??= request.signal
      return hello
    })

    await rawRequest(testServer.url, GET)
    await rawRequest(testServer.url, GET)

    expect(testServer.ended).toBe(2)
    expect(signal!.aborted).toBe(false)
  })
})

test('a request that arrives together with the end of its connection is handled', async () => {
  const testServer = serve(async () => hello)
  const { hostname, port } = new URL(testServer.url)

  connect(Number(port), hostname).end(GET)

  await until('the request has ended', () => testServer.ended === 1)
})

test('a client that sends its head too slowly is refused, while others are served', async () => {
  const { url, clock, errors } = serve(async () => hello)
  const connection = rawConnection(url)
  await connection.write('GET / HTTP/1.1\r\nx: ')
  await rawRequest(url, GET)

  clock.advance(11_000)

  expect(await connection.closed).toEndWith('\r\n\r\nheaders_timeout')
  expect(errors).toMatchObject([{ code: 'headers_timeout' }])
})

test('at the connection limit, an idle connection is closed, and if there is none, the new one is refused', async () => {
  const held = Promise.withResolvers<void>()
  let running = 0
  const { url } = serve(
    async () => {
      running += 1
      if (running < 3) await held.promise
      return hello
    },
    { connectionsMax: 2 },
  )
  const idle = rawConnection(url)
  const first = rawConnection(url)
  await first.write(GET)
  await until('the first request runs', () => running === 1)
  const second = rawConnection(url)
  await second.write(GET)

  const closed = await idle.closed
  await until('the second request runs', () => running === 2)
  const refused = await rawConnection(url).closed
  held.resolve()

  expect(closed).toBe('')
  expect(refused).toEndWith('\r\n\r\ntoo_many_connections')
  expect(await first.response()).toStartWith('HTTP/1.1 200 ')
  first.leave()
  second.leave()
})

test('at the connection limit, a request that arrives just before a new connection is answered', async () => {
  const { url } = serve(async () => hello, { connectionsMax: 1 })
  const asking = rawConnection(url)
  await asking.write(GET)
  await asking.response()

  const written = asking.write(GET)
  // In the same poll, the old connection has a request that is not answered yet, so the new one is refused. In a later
  // poll, the old one is idle and is closed.
  const latest = rawConnection(url)
  await written

  expect(await asking.response()).toStartWith('HTTP/1.1 200 ')
  asking.leave()
  latest.leave()
})

describe('drain', () => {
  test('drain closes idle connections, takes no new request, and waits for the running ones', async () => {
    const held = Promise.withResolvers<void>()
    let running = 0
    const { url, clock } = serve(async () => {
      running += 1
      if (running === 2) await held.promise
      return hello
    })
    const idle = rawConnection(url)
    await idle.write(GET)
    await idle.response()
    const busy = rawConnection(url)
    await busy.write(GET + GET)
    await until('the request runs', () => running === 2)

    let isDrained = false
    const drained = server.drain().then(() => (isDrained = true))
    const closed = await idle.closed
    const refused = await rawConnection(url).closed
    const before = isDrained
    held.resolve()
    const response = await busy.closed
    await drained

    expect(closed).toStartWith('HTTP/1.1 200 ')
    expect(refused).toBe('')
    expect(before).toBe(false)
    expect(response).toContain('\r\nconnection: close\r\n')
    expect(response.match(/HTTP\/1.1 200/g)).toHaveLength(1)
    expect(running).toBe(2)
    expect(clock.waiting).toBe(0)
  })

  test('drain waits for requests whose clients have disconnected', async () => {
    const held = Promise.withResolvers<void>()
    let signal: AbortSignal | undefined
    const { url } = serve(async request => {
      signal = request.signal
      await held.promise
      return hello
    })
    const connection = rawConnection(url)
    await connection.write(GET)
    await until('the request runs', () => signal !== undefined)
    connection.leave()
    await until('the client has disconnected', () => signal!.aborted)

    let isDrained = false
    const drained = server.drain().then(() => (isDrained = true))
    await turn()
    const before = isDrained
    held.resolve()
    await drained

    expect(before).toBe(false)
  })
})

test('abort breaks all connections, and waits until all requests have ended', async () => {
  const held = Promise.withResolvers<void>()
  const stream = endless()
  let running = 0
  const { url } = serve(async () => {
    running += 1
    if (running === 1) return { status: 200, headers: {}, body: stream.body }
    await held.promise
    return hello
  })
  const streaming = rawConnection(url)
  await streaming.write(GET)
  await until('the stream is read', () => stream.readBytes > 0)
  const busy = rawConnection(url)
  await busy.write(GET)
  await until('the request runs', () => running === 2)

  let isOver = false
  const aborted = server.abort().then(() => (isOver = true))
  await streaming.closed
  const response = await busy.closed
  const before = isOver
  held.resolve()
  await aborted

  expect(response).toBe('')
  expect(before).toBe(false)
  expect(stream.isCancelled).toBe(true)
})

test('a streamed response that fails breaks its connection and is reported', async () => {
  const { url, errors } = serve(async () => ({
    status: 200,
    headers: {},
    body: { read: () => Promise.reject(new Error('No more.')), cancel: () => {} },
  }))

  const response = await rawRequest(url, GET)

  expect(response).toBe('')
  expect(errors).toMatchObject([{ message: 'No more.' }])
})

test('a handler that rejects is reported, its client gets a 500, and drain does not wait for it', async () => {
  const fault = new Error('A bug.')
  const { url, errors } = serve(() => Promise.reject(fault))

  const response = await rawRequest(url, GET)
  await server.drain()

  expect(response).toStartWith('HTTP/1.1 500 ')
  expect(errors).toEqual([fault])
})

test('a fault while a request is read breaks its connection, is reported, and leaves others alone', async () => {
  const fault = new Error('A bug.')
  const { url, errors } = serve(request => {
    if (request.path === '/bug') throw fault
    return Promise.resolve(hello)
  })
  const other = rawConnection(url)
  await other.write('GET / HTTP/1.1\r\n')

  const broken = rawConnection(url)
  await broken.write(GET.replace('/', '/bug'))

  expect(await broken.closed).toBe('')
  expect(errors).toEqual([fault])
  await other.write('host: h\r\n\r\n')
  expect(await other.response()).toStartWith('HTTP/1.1 200 ')
  other.leave()
})
