import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from '../testing/fake-clock.ts'
import { canFillBacklog, startFullBacklog } from '../testing/full-backlog.ts'
import { startUpstream } from '../testing/upstream.ts'
import { Timers } from '../timers.ts'
import { httpClient, type HttpClient, type SendOptions } from './http-client.ts'
import { httpRequest } from './http-request.ts'
import { turns } from '../testing/turn.ts'

let clock: FakeClock
let http: HttpClient

beforeEach(() => {
  clock = fakeClock()
  http = httpClient(new Timers(clock))
})

afterEach(() => {
  http.close()
  expect(clock.waiting).toBe(0)
})

/** A server that accepts connections and never says anything. */
function silentServer() {
  const opened = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => opened.resolve(), data() {}, close: () => closed.resolve() },
  })
  return {
    port: server.port,
    opened: opened.promise,
    closed: closed.promise,
    close: () => server.stop(true),
  }
}

function codeAndSent(url: string, options: SendOptions = {}) {
  return http.send(httpRequest({ method: 'POST', url: new URL(url) }), options).then(
    () => 'no failure',
    ({ code, isRequestSent }: { code: string; isRequestSent: boolean }) => ({ code, isRequestSent }),
  )
}

describe('a TLS handshake that is never answered', () => {
  test('a TLS handshake that is never answered fails after five seconds, and nothing was sent', async () => {
    const server = silentServer()
    let isOver = false
    const failure = codeAndSent(`https://localhost:${server.port}`, { body: '{}' }).finally(
      () => (isOver = true),
    )
    await server.opened

    clock.advance(4999)
    await turns(20)
    expect(isOver).toBe(false)
    clock.advance(1)

    expect(await failure).toEqual({ code: 'CONNECT_TIMEOUT', isRequestSent: false })
    await server.closed
    server.close()
  })

  test('a TLS handshake that is never answered fails after the limit of the request', async () => {
    const server = silentServer()
    const failure = codeAndSent(`https://localhost:${server.port}`, { connectTimeoutMs: 200 })
    await server.opened

    clock.advance(200)

    expect(await failure).toMatchObject({ code: 'CONNECT_TIMEOUT' })
    server.close()
  })

  test('a TLS handshake that is never answered ends when the caller aborts', async () => {
    const server = silentServer()
    const controller = new AbortController()
    const failure = codeAndSent(`https://localhost:${server.port}`, { signal: controller.signal })
    await server.opened

    controller.abort()

    expect(await failure).toEqual({ code: 'ABORT_ERR', isRequestSent: false })
    await server.closed
    server.close()
  })
})

describe.skipIf(!canFillBacklog)('a TCP connect that is never answered', () => {
  test('a TCP connect that is never answered fails after the limit, and nothing was sent', async () => {
    const backlog = await startFullBacklog()
    const failure = codeAndSent(`http://127.0.0.1:${backlog.port}`, { body: '{}' })
    await turns(20)

    clock.advance(5000)

    expect(await failure).toEqual({ code: 'CONNECT_TIMEOUT', isRequestSent: false })
    backlog.close()
  })

  test('a TCP connect that is never answered fails at once while 256 earlier ones to the same server are still running', async () => {
    const backlog = await startFullBacklog()
    const url = `http://127.0.0.1:${backlog.port}`
    const earlier = Array.from({ length: 256 }, () => codeAndSent(url))
    await turns(20)
    clock.advance(5000)
    await Promise.all(earlier)

    const failure = await codeAndSent(url)

    expect(failure).toEqual({ code: 'CONNECT_TIMEOUT', isRequestSent: false })
    const upstream = startUpstream()
    expect(await codeAndSent(upstream.baseUrl)).toBe('no failure')
    upstream.close()
    backlog.close()
  })
})
