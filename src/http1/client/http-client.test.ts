import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rejection } from '../testing/rejection.ts'
import { fakeClock, type FakeClock } from '../testing/fake-clock.ts'
import { until } from '../testing/until.ts'
import * as replies from '../testing/upstream-replies.ts'
import { startUpstream, type Exchange, type Reply, type Upstream } from '../testing/upstream.ts'
import { Timers } from '../timers.ts'
import { httpClient, type HttpClient } from './http-client.ts'
import { httpRequest } from './http-request.ts'

const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'

let upstream: Upstream
let http: HttpClient
let clock: FakeClock

beforeEach(() => {
  upstream = startUpstream()
  clock = fakeClock()
  http = httpClient(new Timers(clock))
})

afterEach(() => {
  http.close()
  upstream.close()
  expect(clock.waiting).toBe(0)
})

test('concurrent requests have a connection each, and later requests use those', async () => {
  await Promise.all([ask(), ask(), ask()])
  await Promise.all([ask(), ask(), ask()])

  expect(upstream.connections).toBe(3)
})

describe('a connection is not used again', () => {
  test.each<[string, Reply]>([
    ['asks to close it', replies.answer('{}', { headers: { connection: 'close' } })],
    ['speaks HTTP/1.0', exchange => exchange.write('HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}')],
    ['sent more than its response', exchange => exchange.write(`${RESPONSE}HTTP`)],
  ])('a connection is not used again if its server %s', async (_name, reply) => {
    upstream.reply(reply)

    expect([await ask(), await ask()]).toEqual(['{}', '{}'])

    expect(upstream.connections).toBe(2)
  })

  test('a connection is not used again after unsolicited bytes', async () => {
    const exchange = await heldResponse()

    await exchange.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong')
    await exchange.closed

    expect(await ask()).toContain('Hello.')
    expect(upstream.connections).toBe(2)
  })

  test('a connection is not used again if its server closed it while it was idle', async () => {
    const exchange = await heldResponse()

    exchange.end()
    await exchange.closed
    await until('the client has learned of it, and its time limit has ended', () => clock.waiting === 0)

    expect(await ask()).toContain('Hello.')
    expect(upstream.connections).toBe(2)
  })

  test('a connection is not used again if its server reset it and the client has not learned of that, because nothing can be written', async () => {
    const exchange = await heldResponse()

    exchange.reset()

    expect(await ask()).toContain('Hello.')
    expect(upstream.connections).toBe(2)
  })

  test('a connection is not used again after the time that its server announced, less a second', async () => {
    upstream.reply(replies.answer('{}', { headers: { 'keep-alive': 'timeout=10, max=100' } }))
    await ask()
    clock.advance(8_999)
    await ask()
    clock.advance(9_000)

    await ask()

    expect(upstream.connections).toBe(2)
  })

  test('a connection is not used again if its server announces no time', async () => {
    upstream.reply(replies.answer('{}', { headers: { 'keep-alive': 'timeout=1' } }))

    await ask()
    await ask()

    expect(upstream.connections).toBe(2)
  })

  test('a connection is not used again after it was idle for 4 seconds', async () => {
    const first = await heldResponse()
    clock.advance(3_999)
    const second = upstream.hold()
    const asked = ask()
    const reused = await second
    await reused.write(RESPONSE)
    await asked
    expect(upstream.connections).toBe(1)

    clock.advance(4_000)
    await first.closed

    await ask()
    expect(upstream.connections).toBe(2)
  })

  test('a connection is not used again if the response came before the request was sent whole', async () => {
    let connections = 0
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: () => void (connections += 1), data: socket => void socket.write(RESPONSE) },
    })
    const request = requestTo(`http://127.0.0.1:${server.port}`)
    let isCancelled = false
    const stream = { read: () => new Promise<undefined>(() => {}), cancel: () => (isCancelled = true) }

    const early = await http.send(request, { body: { stream } })
    const next = await http.send(request)

    expect((await early.readAll(10)).toString()).toBe('{}')
    expect(isCancelled).toBe(true)
    expect((await next.readAll(10)).toString()).toBe('{}')
    expect(connections).toBe(2)
    server.stop(true)
  })

  test('a connection is not used again if the request does not want that', async () => {
    const request = httpRequest({ method: 'POST', url: new URL(upstream.baseUrl), reuseConnection: false })
    await ask()

    for (let count = 0; count < 2; count += 1) await (await http.send(request)).readAll(10_000)

    expect(upstream.connections).toBe(3)
    expect(upstream.requests.map(({ headers }) => headers['connection'])).toEqual([
      'keep-alive',
      'close',
      'close',
    ])
    await ask()
    expect(upstream.connections).toBe(3)
  })

  test('a connection is not used again after its response was cancelled', async () => {
    const held = upstream.hold()
    const sent = http.send(requestTo(upstream.baseUrl))
    const exchange = await held
    await exchange.write(replies.head(200, { 'content-length': '10' }))
    const response = await sent

    response.cancel()

    await exchange.closed
    expect(await rejection(response.read())).toMatchObject({ code: 'ABORT_ERR', isRequestSent: true })
    await ask()
    expect(upstream.connections).toBe(2)
  })
})

test('of 300 connections 256 are kept for later requests, and the others are closed', async () => {
  const held = Array.from({ length: 300 }, () => upstream.hold())
  const asked = held.map(() => ask())
  const exchanges = await Promise.all(held)
  let closed = 0
  for (const exchange of exchanges) void exchange.closed.then(() => (closed += 1))
  const enough = Promise.all(exchanges.slice(256).map(({ closed }) => closed))

  for (const exchange of exchanges) await exchange.write(RESPONSE)
  await Promise.all(asked)
  await enough

  expect(closed).toBe(44)
  await Promise.all(held.map(() => ask()))
  expect(upstream.connections).toBe(344)
})

describe('a request is never sent if it is aborted', () => {
  const sendWith = (signal: AbortSignal) =>
    http.send(requestTo(upstream.baseUrl), { body: 'aborted', signal })
  const bodies = () => upstream.requests.map(request => request.text())

  test('a request is never sent if it is aborted while its connection is being opened', async () => {
    const controller = new AbortController()
    const sent = sendWith(controller.signal)

    controller.abort()

    expect(await rejection(sent)).toMatchObject({ code: 'ABORT_ERR', isRequestSent: false })
    await ask('later')
    await until('both connections have been opened', () => upstream.connections === 2)
    await until('the late connection is closed', () => upstream.openConnections === 1)
    await ask('last')
    expect(bodies()).toEqual(['later', 'last'])
  })

  test('a request is never sent if it is aborted before it gets an idle connection, which stays usable', async () => {
    await ask('first')

    const sent = sendWith(AbortSignal.abort())

    expect(await rejection(sent)).toMatchObject({ code: 'ABORT_ERR', isRequestSent: false })
    await ask('later')
    expect(bodies()).toEqual(['first', 'later'])
    expect(upstream.connections).toBe(1)
  })
})

test('a large request is sent whole, at the pace of the server', async () => {
  const body = 'Ein Stück Text. '.repeat(1024 * 1024)

  await ask(body)

  expect(Bun.hash(upstream.requests[0]!.body)).toBe(Bun.hash(body))
})

test('pieces do not change after they were read', async () => {
  const held = upstream.hold()
  const sent = http.send(requestTo(upstream.baseUrl))
  const exchange = await held
  await exchange.write(replies.head(200, { 'content-length': '2000' }))
  const response = await sent
  const pieces: Uint8Array[] = []
  for (const letter of 'ab') {
    await exchange.write(letter.repeat(1000))
    pieces.push((await response.read()) ?? new Uint8Array())
  }

  expect(pieces.map(piece => Buffer.from(piece).toString()).join('')).toBe(
    'a'.repeat(1000) + 'b'.repeat(1000),
  )
})

/** An exchange whose response has been read, so that its connection is idle. */
async function heldResponse(): Promise<Exchange> {
  const held = upstream.hold()
  const asked = ask()
  const exchange = await held
  await exchange.write(RESPONSE)
  await asked
  return exchange
}

async function ask(body = '{}'): Promise<string> {
  const response = await http.send(requestTo(upstream.baseUrl), { body })
  return (await response.readAll(10_000)).toString()
}

function requestTo(url: string) {
  return httpRequest({ method: 'POST', url: new URL(url) })
}
