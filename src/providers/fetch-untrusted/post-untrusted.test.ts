import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import {
  forbiddenHosts,
  forbiddenNames,
  forbiddenServer,
  PUBLIC,
} from '../../../test/support/forbidden-hosts.ts'
import type { PostOutcome, PostTerms } from '../../gateway/ports/providers/untrusted-post.ts'
import { httpClient, type HttpClient } from '../../http1/client/http-client.ts'
import { Timers } from '../../http1/timers.ts'
import { until } from '../../http1/testing/until.ts'
import { untrustedPost } from './post-untrusted.ts'
import type { Resolver } from './address-guard.ts'

let secret: ReturnType<typeof forbiddenServer>
let receiver: ReturnType<typeof Bun.serve>
let requests: { readonly method: string; readonly path: string; readonly body: string }[]
let http: HttpClient
let clock: FakeClock

beforeAll(() => {
  secret = forbiddenServer('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push({ method: request.method, path: pathname, body: await request.text() })
      if (pathname === '/moved') return new Response(null, { status: 307, headers: { location: '/other' } })
      if (pathname === '/silent') return new Promise<Response>(() => {})
      if (pathname === '/endless')
        return new Response(new ReadableStream({ pull: all => all.enqueue(new Uint8Array(65_536)) }))
      return new Response('thanks', { status: Number(pathname.slice(1)) })
    },
  })
})

afterAll(async () => {
  secret.stop()
  await receiver.stop(true)
})

beforeEach(() => {
  secret.connections = 0
  requests = []
  clock = fakeClock()
  http = httpClient(new Timers(clock))
})

afterEach(() => {
  http.close()
  expect(clock.waiting).toBe(0)
})

const unresolved: Resolver = async () => []

function post(
  url: string,
  { resolve = unresolved, ...terms }: Partial<PostTerms> & { readonly resolve?: Resolver } = {},
): Promise<PostOutcome> {
  const send = untrustedPost({ http, resolve, clock, version: '1.2.3' })
  return send(url, { headers: {}, body: '{}', timeoutMs: 10_000, allowsPrivate: false, ...terms })
}

const own = (path: string) => `http://127.0.0.1:${receiver.port}${path}`

describe('nothing on this machine gets a webhook message', () => {
  test.each(forbiddenHosts)('nothing on this machine gets a webhook message at the host %j', async host => {
    for (const scheme of ['http', 'https']) {
      const outcome = await post(`${scheme}://${host}:${secret.port}/`)

      expect(outcome).toMatchObject({ outcome: expect.stringMatching(/^(?:refused|failed)$/) as string })
    }
    expect(secret.connections).toBe(0)
  })

  test.each(forbiddenNames)(
    'nothing on this machine gets a webhook message at the name %j with the addresses %j',
    async (name, addresses) => {
      const outcome = await post(`https://${name}:${secret.port}/`, { resolve: async () => addresses })

      expect(outcome).toMatchObject({ outcome: 'refused' })
      expect(secret.connections).toBe(0)
    },
  )
})

test('a public address without TLS is refused, also where private addresses are allowed', async () => {
  for (const allowsPrivate of [false, true]) {
    const outcome = await post('http://site.test/', { allowsPrivate, resolve: async () => [PUBLIC] })

    expect(outcome).toEqual({
      outcome: 'refused',
      problem: 'the URL is not https, and its host is not in a private network',
    })
  }
})

test('the metadata service is refused also where private addresses are allowed', async () => {
  const outcome = await post('http://169.254.169.254/', { allowsPrivate: true })

  expect(outcome).toEqual({ outcome: 'refused', problem: 'the address is not public (metadata)' })
})

test('a private address gets the body where it is allowed, and its status is the outcome', async () => {
  const outcome = await post(own('/204'), { allowsPrivate: true, body: '{"é":1}' })

  expect(outcome).toEqual({ outcome: 'answered', status: 204 })
  expect(requests).toEqual([{ method: 'POST', path: '/204', body: '{"é":1}' }])
})

test('a redirect is not followed', async () => {
  const outcome = await post(own('/moved'), { allowsPrivate: true })

  expect(outcome).toEqual({ outcome: 'answered', status: 307 })
  expect(requests).toHaveLength(1)
})

test('an endless body is not read', async () => {
  expect(await post(own('/endless'), { allowsPrivate: true })).toEqual({ outcome: 'answered', status: 200 })
})

test('a receiver that does not answer fails after the time limit', async () => {
  const posted = post(own('/silent'), { allowsPrivate: true })
  await until('the receiver has the request', () => requests.length === 1)

  clock.advance(10_000)

  expect(await posted).toEqual({ outcome: 'failed', problem: 'it took more than 10 s' })
})

test('a receiver that is down fails with the code of the network, without its address', async () => {
  expect(await post('http://127.0.0.1:1/', { allowsPrivate: true })).toEqual({
    outcome: 'failed',
    problem: 'connection: ECONNREFUSED',
  })
})
