import { afterEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { rejection } from '../../test/support/rejection.ts'
import { rawConnection, rawRequest } from '../http1/testing/raw-http.ts'
import { until } from '../../test/support/until.ts'
import { GatewayError } from '../domain/errors.ts'
import { RefusalPace } from '../gateway/admission/refusal-pace.ts'
import { startServer, type RunningServer } from '../http1/server/server.ts'
import { Cors } from './cors.ts'
import { plainReplies } from './reply-style.ts'
import type { Handler, HttpReply } from './request-context.ts'
import {
  answer,
  requestHandler,
  type FinishedRequest,
  type RequestHandlerPorts,
  type RespondableRequest,
} from './request-handler.ts'

const LIMITS = { bytesMax: 1 << 20, idleMs: 30_000, totalMs: 100_000 }
const GET = 'GET / HTTP/1.1\r\nhost: h\r\n\r\n'
const hello: HttpReply = { status: 200, headers: {}, body: 'hello' }

const endpoint = (handle: Handler) => ({ route: 'root', handle, style: plainReplies })

function portsWith(observe: RequestHandlerPorts['observe']): RequestHandlerPorts {
  return {
    nextId: () => ({ key: 1n, tail: 1n }),
    elapsed: () => 0,
    now: () => 0,
    observe,
    costHeader: 'x-acme-cost-usd',
    replayHeader: 'x-acme-replay',
    cors: new Cors({ origins: '*', exposedHeaders: [] }),
    refusals: new RefusalPace(fakeClock()),
  }
}

describe('over a server', () => {
  let server: RunningServer
  afterEach(() => server.abort())

  function serve(handle: Handler, options: { readonly connectionsMax?: number } = {}) {
    const clock = fakeClock()
    const finished: FinishedRequest[] = []
    const routes = [{ path: '/', name: 'root', methods: { GET: handle, POST: handle } }]
    const handler = requestHandler(
      routes,
      portsWith(one => finished.push(one)),
    )
    const onHandlerError = () => {}
    server = startServer({ host: '127.0.0.1', port: 0, clock, handler, onHandlerError, ...options })
    return { clock, finished, url: server.url }
  }

  test('a reply has the request id, and JSON as its type', async () => {
    const { url, clock } = serve(async () => ({ ...hello, headers: { x: 'y' } }))

    const response = await rawRequest(url, GET)

    const date = new Date(clock.now()).toUTCString()
    expect(response.replace(/req_\w+/, 'req_')).toBe(
      `HTTP/1.1 200 OK\r\nx: y\r\ncontent-type: application/json\r\nx-request-id: req_\r\ndate: ${date}\r\ncontent-length: 5\r\n\r\nhello`,
    )
  })

  test('a client that sends its head too slowly gets a 408', async () => {
    const { url, clock, finished } = serve(async () => hello)
    const connection = rawConnection(url)
    await connection.write('GET / HTTP/1.1\r\nx: ')
    await rawRequest(url, GET)

    clock.advance(11_000)
    const response = await connection.closed

    expect(response).toStartWith('HTTP/1.1 408 ')
    expect(response).toContain('"headers_timeout"')
    expect(finished.at(-1)).toMatchObject({ route: 'none', status: 408 })
  })

  test('a client that still sends a body that is too large gets a 413, and no reset', async () => {
    const { url, finished } = serve(async ({ request }) => {
      await request.text(LIMITS)
      return hello
    })
    const connection = rawConnection(url)
    await connection.write(`POST / HTTP/1.1\r\nhost: h\r\ncontent-length: ${8 << 20}\r\n\r\n`)
    const refused = await connection.response()
    for (let count = 0; count < 8; count += 1) await connection.write(new Uint8Array(1 << 20))

    expect(refused).toStartWith('HTTP/1.1 413 ')
    expect(refused).toContain('\r\nconnection: close\r\n')
    expect(await connection.closed).toBe(refused)
    expect(finished[0]!.context.record).toEqual({ errorCode: 'request_too_large' })
  })

  test('a connection above the limit gets a 503 with a time to retry after', async () => {
    let isRunning = false
    const held = Promise.withResolvers<void>()
    const { url } = serve(
      async () => {
        isRunning = true
        await held.promise
        return hello
      },
      { connectionsMax: 1 },
    )
    const first = rawConnection(url)
    await first.write(GET)
    await until('the request runs', () => isRunning)

    const refused = await rawConnection(url).closed
    held.resolve()

    expect(refused).toStartWith('HTTP/1.1 503 ')
    expect(refused).toContain('\r\nretry-after: 1\r\n')
    expect(await first.response()).toStartWith('HTTP/1.1 200 ')
    first.leave()
  })

  test('a reply that cannot be sent becomes a 500, and is logged', async () => {
    const { url, finished } = serve(async () => ({ ...hello, headers: { x: 'a\r\nb' } }))

    const response = await rawRequest(url, GET)

    expect(response).toStartWith('HTTP/1.1 500 ')
    expect(response).toContain('"server_error"')
    expect(finished[0]?.context.record.failure).toBeInstanceOf(Error)
  })

  test('the stream of a reply that cannot be sent is cancelled', async () => {
    let cancels = 0
    const body = { read: async () => undefined, cancel: () => void (cancels += 1) }
    const { url } = serve(async () => ({ status: 200, headers: { x: 'a\r\nb' }, body }))

    const response = await rawRequest(url, GET)

    expect(response).toStartWith('HTTP/1.1 500 ')
    expect(cancels).toBe(1)
  })
})

test('the failure of a request is the cause of a fault, and the error of an outage with its cause', async () => {
  const finished: FinishedRequest[] = []
  const request = { respond: () => undefined, header: () => null } as unknown as RespondableRequest
  const cause = new Error('did not answer')
  const errors = (['server_error', 'unavailable'] as const).map(
    code => new GatewayError(code, 'Failed.', { cause }),
  )

  for (const error of errors)
    await answer(
      request,
      endpoint(() => Promise.reject(error)),
      portsWith(one => finished.push(one)),
    )

  expect(finished.map(({ context }) => context.record.failure)).toEqual([cause, errors[1]])
})

test('a request is recorded after the end of its reply', async () => {
  const finished: FinishedRequest[] = []
  const request = { respond: () => undefined, header: () => null } as unknown as RespondableRequest
  const ended = Promise.withResolvers<void>()

  const answered = answer(
    request,
    endpoint(async () => ({ ...hello, ended: ended.promise })),
    portsWith(one => finished.push(one)),
  )
  await Promise.resolve()
  const before = finished.length
  ended.resolve()
  await answered

  expect([before, finished.length]).toEqual([0, 1])
})

test('answering rejects when the request cannot be recorded', async () => {
  const fault = new Error('The log is full.')
  const request = { respond: () => undefined, header: () => null } as unknown as RespondableRequest

  const answered = answer(
    request,
    endpoint(async () => ({ status: 200, headers: {}, body: null })),
    portsWith(() => {
      throw fault
    }),
  )

  expect(await rejection(answered)).toBe(fault)
})

test('a request whose client disconnected before the reply is recorded with 499 and no error', async () => {
  const finished: FinishedRequest[] = []
  const request = {
    respond: () => undefined,
    header: () => null,
    clientDisconnected: true,
  } as unknown as RespondableRequest
  const handle = () => Promise.reject(new GatewayError('upstream_error', 'The call was cut short.'))

  await answer(
    request,
    endpoint(handle),
    portsWith(each => finished.push(each)),
  )

  expect(finished).toMatchObject([{ status: 499, context: { record: { clientDisconnected: true } } }])
  expect(finished[0]?.context.record).not.toHaveProperty('errorCode')
})
