import { afterEach, describe, expect, test } from 'bun:test'
import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import { connect } from 'node:net'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { turn } from '../../../test/support/turn.ts'
import { rawConnection, rawRequest } from '../../../test/scenarios/raw-http.ts'
import { until } from '../../../test/scenarios/until.ts'
import type { Finished } from '../../http/endpoint.ts'
import type { Handler, Reply } from '../../http/request-context.ts'
import { startServer, type RunningServer } from './server.ts'

const LIMITS = { bytesMax: 1 << 20, idleMs: 30_000, totalMs: 100_000 }
const GET = 'GET / HTTP/1.1\r\nhost: h\r\n\r\n'
const hello: Reply = { status: 200, headers: {}, body: 'hello' }

let server: RunningServer
afterEach(() => server.abort())

function serve(handle: Handler, options: { readonly connectionsMax?: number } = {}) {
  const clock = fakeClock()
  const finished: Finished[] = []
  server = startServer({
    host: '127.0.0.1',
    port: 0,
    routes: [{ path: '/', name: 'root', methods: { GET: handle, POST: handle } }],
    edge: {
      clock,
      nextId: () => ({ key: 1n, tail: 1n }),
      elapsed: () => 0,
      observe: one => finished.push(one),
      costHeader: 'x-acme-cost-usd',
      replayHeader: 'x-acme-replay',
    },
    ...options,
  })
  return { clock, finished, url: server.url }
}

/** A stream that never ends, and tells how much of it was read. */
function endless() {
  const stream = {
    read: 0,
    isCancelled: false,
    source: {
      async read() {
        stream.read += 64 * 1024
        // Without a pause, such a stream would keep the event loop busy.
        await turn()
        return new Uint8Array(64 * 1024)
      },
      cancel: () => void (stream.isCancelled = true),
    },
  }
  return stream
}

test('a reply has its date, its length and its request’s id', async () => {
  const { url, clock } = serve(() => ({ ...hello, headers: { x: 'y' } }))
  clock.advance(5000)

  const response = await rawRequest(url, GET)

  expect(response.replace(/req_\w+/, 'req_')).toBe(
    `HTTP/1.1 200 OK\r\nx: y\r\ncontent-type: application/json\r\nx-request-id: req_\r\ndate: ${new Date(clock.now()).toUTCString()}\r\ncontent-length: 5\r\n\r\nhello`,
  )
})

test('a client that reads nothing of a stream that never ends holds what its socket holds, and no more', async () => {
  const stream = endless()
  const { url } = serve(() => ({ status: 200, headers: {}, body: stream.source }))
  const { hostname, port } = new URL(url)
  const client = connect(Number(port), hostname)
  client.pause()
  client.write(GET)
  await until('it is read', () => stream.read > 0)

  let before = -1
  let still = 0
  await until('nothing is read any more', () => {
    still = stream.read === before ? still + 1 : 0
    before = stream.read
    return still > 300
  })
  const held = process.memoryUsage().rss
  for (let turns = 0; turns < 300; turns += 1) await turn()
  client.destroy()
  await until('it is cancelled', () => stream.isCancelled)

  expect(stream.read).toBeLessThan(before + 2 * 64 * 1024)
  expect(before).toBeLessThan(64 << 20)
  expect(process.memoryUsage().rss - held).toBeLessThan(32 << 20)
})

describe('a client that leaves', () => {
  test.each(['closes', 'breaks off', 'closes its half of the connection'])(
    'fires the signal of its request: it %s',
    async how => {
      let signal: CallerSignal | undefined
      const { url, finished } = serve(async ({ request }) => {
        signal = request.signal
        await new Promise<void>(resolve => {
          signal!.addEventListener('abort', resolve)
        })
        return hello
      })
      const { hostname, port } = new URL(url)
      const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
      client.on('error', () => undefined)
      client.write(GET)
      await until('it runs', () => signal !== undefined)

      if (how === 'closes') client.destroy()
      else if (how === 'breaks off') client.resetAndDestroy()
      else client.end()

      await until('it is over', () => finished.length === 1)
      expect(signal!.aborted).toBe(true)
      client.destroy()
    },
  )

  test('after its reply fires nothing', async () => {
    let signal: CallerSignal | undefined
    const { url, finished } = serve(({ request }) => {
      signal = request.signal
      return hello
    })

    await rawRequest(url, GET)
    await until('it is over', () => finished.length === 1)
    await rawRequest(url, GET)

    expect(signal!.aborted).toBe(false)
  })
})

test('a client that drips its head is refused in the end', async () => {
  const { url, clock, finished } = serve(() => hello)
  const connection = rawConnection(url)
  await connection.write('GET / HTTP/1.1\r\nx: ')
  await rawRequest(url, GET)

  clock.advance(11_000)
  const response = await connection.closed

  expect(response).toStartWith('HTTP/1.1 408 ')
  expect(response).toContain('"headers_timeout"')
  expect(finished.at(-1)).toMatchObject({ route: 'none', status: 408 })
})

test('a client that is still sending gets its refusal, and no reset', async () => {
  const { url } = serve(async ({ request }) => {
    await request.body(LIMITS)
    return hello
  })
  const connection = rawConnection(url)
  await connection.write(`POST / HTTP/1.1\r\nhost: h\r\ncontent-length: ${8 << 20}\r\n\r\n`)
  const refused = await connection.response()
  for (let count = 0; count < 8; count += 1) await connection.write(new Uint8Array(1 << 20))

  expect(refused).toStartWith('HTTP/1.1 413 ')
  expect(refused).toContain('\r\nconnection: close\r\n')
  expect(await connection.closed).toBe(refused)
})

test('beyond its connections, one that runs nothing gives way, or else the new one is refused', async () => {
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
  await until('the first runs', () => running === 1)
  const second = rawConnection(url)
  await second.write(GET)

  const gaveWay = await idle.closed
  await until('the second runs', () => running === 2)
  const refused = await rawConnection(url).closed
  held.resolve()

  expect(gaveWay).toBe('')
  expect(refused).toStartWith('HTTP/1.1 503 ')
  expect(refused).toContain('\r\nretry-after: 1\r\n')
  expect(await first.response()).toStartWith('HTTP/1.1 200 ')
  first.leave()
  second.leave()
})

test('at the connection limit, a request that arrives just before a new connection is answered', async () => {
  const { url } = serve(() => hello, { connectionsMax: 1 })
  const asking = rawConnection(url)
  await asking.write(GET)
  await asking.response()

  const written = asking.write(GET)
  const latest = rawConnection(url)
  await written
  await latest.write(GET)

  expect(await asking.closed).toMatch(/^HTTP\/1.1 200 [^]+HTTP\/1.1 200 /)
  expect(await latest.response()).toStartWith('HTTP/1.1 200 ')
  latest.leave()
})

describe('a stop', () => {
  test('closes connections that wait, lets running requests end with theirs, and takes no new one', async () => {
    const held = Promise.withResolvers<void>()
    let running = 0
    const { url, clock } = serve(async () => {
      running += 1
      if (running === 2) await held.promise
      return hello
    })
    const waiting = rawConnection(url)
    await waiting.write(GET)
    await waiting.response()
    const busy = rawConnection(url)
    await busy.write(GET + GET)
    await until('it runs', () => running === 2)

    let isDrained = false
    const drained = server.drain().then(() => (isDrained = true))
    const closed = await waiting.closed
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

  test('that has to hurry breaks what runs, and waits until it has ended', async () => {
    const held = Promise.withResolvers<void>()
    const stream = endless()
    let running = 0
    const { url } = serve(async () => {
      running += 1
      if (running === 1) return { status: 200, headers: {}, body: stream.source }
      await held.promise
      return hello
    })
    const streaming = rawConnection(url)
    await streaming.write(GET)
    await until('it streams', () => stream.read > 0)
    const busy = rawConnection(url)
    await busy.write(GET)
    await until('it runs', () => running === 2)

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
})

test('a reply that cannot be sent is a fault of ours, and the client is told', async () => {
  const { url, finished } = serve(() => ({ ...hello, headers: { x: 'a\r\nb' } }))

  const response = await rawRequest(url, GET)

  expect(response).toStartWith('HTTP/1.1 500 ')
  expect(response).toContain('"server_error"')
  expect(finished[0]?.context.trace.failure).toBeInstanceOf(Error)
})
