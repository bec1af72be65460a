import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { bytesOf } from '../../../test/support/byte-streams.ts'
import { fakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import {
  forbiddenHosts,
  forbiddenNames,
  forbiddenServer,
  PUBLIC,
  PUBLIC_V6,
} from '../../../test/support/forbidden-hosts.ts'
import type { FetchOutcome, FetchTerms } from '../../gateway/ports/providers/untrusted-fetch.ts'
import { httpClient, type HttpClient } from '../../http1/client/http-client.ts'
import { httpRequest } from '../../http1/client/http-request.ts'
import { Timers } from '../../http1/timers.ts'
import { untrustedFetch } from './fetch-untrusted.ts'
import type { Resolver } from './address-guard.ts'
import { turn, turns } from '../../../test/support/turn.ts'

const UNREACHABLE = '93.184.215.99'
const MEGABYTE = 1024 * 1024

let secret: ReturnType<typeof forbiddenServer>
let site: ReturnType<typeof Bun.serve>
let requests: {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}[]
let http: HttpClient
let clock: FakeClock

beforeAll(() => {
  secret = forbiddenServer('HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret')
  site = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer })
})

afterAll(async () => {
  secret.stop()
  await site.stop(true)
})

beforeEach(() => {
  secret.connections = 0
  requests = []
  clock = fakeClock()
  http = httpClient(new Timers(clock))
})

afterEach(() => {
  http.close()
  // Nothing is left over: no timer of a fetch, of a connection or of a request.
  expect(clock.waiting).toBe(0)
})

/** The site redirects where `to` says, or answers as its path says. */
function answer(request: Request): Response | Promise<Response> {
  const { method, url, headers } = request
  requests.push({ method, url, headers: Object.fromEntries(headers) })
  const { pathname, searchParams } = new URL(url)
  const to = searchParams.get('to')
  if (to !== null) {
    const status = Number(searchParams.get('status') ?? 302)
    return new Response('moved', { status, headers: { location: to } })
  }
  const left = Number(/^\/hops\/(\d+)$/.exec(pathname)?.[1] ?? 0)
  if (left > 0) return new Response(null, { status: 307, headers: { location: `/hops/${left - 1}` } })
  const status = Number(/^\/status\/(\d+)$/.exec(pathname)?.[1] ?? 0)
  if (status > 0) return new Response('x', { status })
  if (pathname === '/large') return new Response(new Uint8Array(2 * MEGABYTE))
  if (pathname === '/endless') return new Response(endless())
  if (pathname === '/compressed') return new Response('x', { headers: { 'content-encoding': 'gzip' } })
  if (pathname === '/silent') return new Promise<Response>(() => {})
  if (pathname === '/stalled')
    return new Response(new ReadableStream({ start: all => all.enqueue(new Uint8Array(10)) }))
  return new Response('a picture', { headers: { 'content-type': 'image/png' } })
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: all => all.enqueue(new Uint8Array(MEGABYTE)) }, { highWaterMark: 0 })
}

/** The client, in an internet whose public addresses lead to the site. */
function internet(client: HttpClient): Pick<HttpClient, 'send'> {
  const routes: Readonly<Record<string, { address: string; port: number }>> = {
    [PUBLIC]: { address: '127.0.0.1', port: site.port! },
    [PUBLIC_V6]: { address: '127.0.0.1', port: site.port! },
    // Nothing listens there.
    [UNREACHABLE]: { address: '127.0.0.1', port: 1 },
  }
  return {
    send(request, options) {
      const route = routes[request.origin.address]
      return client.send(
        route === undefined ? request : { ...request, origin: { ...request.origin, ...route } },
        options,
      )
    },
  }
}

/** Names of the test's internet. */
const names: Readonly<Record<string, readonly string[]>> = {
  'site.test': [PUBLIC],
  'other.test': [PUBLIC],
  'dual.test': [PUBLIC_V6, PUBLIC],
  'half-down.test': [UNREACHABLE, PUBLIC],
  'down.test': [UNREACHABLE, UNREACHABLE],
}

const resolveNames: Resolver = async name => {
  const found = names[name]
  if (found === undefined) throw Object.assign(new Error(`no ${name}`), { code: 'DNS_ENOTFOUND' })
  return found
}

type Options = Partial<FetchTerms> & { readonly resolve?: Resolver; readonly allowsPrivate?: boolean }

function fetchOf(
  url: string,
  { resolve = resolveNames, allowsPrivate = false, ...terms }: Options = {},
): Promise<FetchOutcome> {
  const fetch = untrustedFetch({ http: internet(http), resolve, clock, version: '1.2.3', allowsPrivate })
  return fetch(url, { bytesMax: MEGABYTE, timeoutMs: 60_000, ...terms })
}

/** How a fetch ended, and the text of its body. */
async function read(url: string, options: Options = {}): Promise<unknown> {
  const outcome = await fetchOf(url, options)
  if (outcome.outcome !== 'opened') return outcome
  const text = (await bytesOf(outcome.body)).toString('latin1')
  return outcome.body.failure ?? text
}

/** Whether a header can have it: only visible ASCII. */
const isLocation = (host: string) => /^[!-~]+$/.test(host)

describe('nothing on this machine is reached', () => {
  const resolveForbidden: Resolver = async name =>
    forbiddenNames.find(([known]) => new URL(`http://${known}`).hostname === name)?.[1] ?? resolveNames(name)

  test.each(forbiddenHosts)('nothing on this machine is reached by the host %j', async host => {
    for (const scheme of ['http', 'https']) {
      const outcome = await read(`${scheme}://${host}:${secret.port}/`)

      expect(outcome).toMatchObject({ outcome: expect.stringMatching(/^(?:refused|failed)$/) as string })
    }
    expect(secret.connections).toBe(0)
  })

  test.each(forbiddenHosts.filter(isLocation))(
    'nothing on this machine is reached by a redirect to the host %j',
    async host => {
      const to = encodeURIComponent(`http://${host}:${secret.port}/`)

      const outcome = await read(`http://site.test/?to=${to}`)

      expect(outcome).toMatchObject({ outcome: expect.stringMatching(/^(?:refused|failed)$/) as string })
      expect(requests).toHaveLength(1)
      expect(secret.connections).toBe(0)
    },
  )

  test.each(forbiddenNames)(
    'nothing on this machine is reached by the name %s with the addresses %j',
    async name => {
      const direct = await read(`http://${name}:${secret.port}/`, { resolve: resolveForbidden })
      const to = encodeURIComponent(new URL(`http://${name}:${secret.port}/`).href)
      const redirected = await read(`http://site.test/?to=${to}`, { resolve: resolveForbidden })

      expect([direct, redirected]).toMatchObject([{ outcome: 'refused' }, { outcome: 'refused' }])
      expect(secret.connections).toBe(0)
    },
  )

  test.each([
    ['a user name that looks like the host', 'http://site.test@127.0.0.1:PORT/'],
    ['a password that looks like the host', 'http://a:site.test@127.0.0.1:PORT/'],
    ['an escaped number sign', 'http://site.test%23@127.0.0.1:PORT/'],
    ['a backslash', 'http://127.0.0.1:PORT\\@site.test/'],
    ['a fragment', 'http://127.0.0.1:PORT/#@site.test/'],
    ['spaces around it', '  http://127.0.0.1:PORT/  '],
    ['line ends in it', 'ht\ntp://127.0.\r\n0.1:PORT/'],
    ['one slash', 'http:/127.0.0.1:PORT/'],
    ['no slash', 'http:127.0.0.1:PORT/'],
    ['many slashes', 'http:////127.0.0.1:PORT/'],
    ['backslashes', 'http:\\\\127.0.0.1:PORT\\'],
    ['no scheme', '//127.0.0.1:PORT/'],
    ['a nested URL', 'url:http://127.0.0.1:PORT/'],
    ['ftp', 'ftp://127.0.0.1:PORT/'],
    ['file', 'file:///etc/passwd'],
    ['file with a host', 'file://127.0.0.1:PORT/etc/passwd'],
    ['gopher', 'gopher://127.0.0.1:PORT/_GET'],
    ['a web socket', 'ws://127.0.0.1:PORT/'],
    ['data', 'data:text/html,<script>'],
    ['blob', 'blob:http://127.0.0.1:PORT/0'],
    ['a Unix socket', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/'],
    ['javascript', 'javascript:fetch("http://127.0.0.1:PORT/")'],
  ])('nothing on this machine is reached by a URL with %s', async (_trick, text) => {
    const url = text.replaceAll('PORT', String(secret.port))

    const direct = await read(url)
    const redirected = isLocation(url)
      ? await read(`http://site.test/?to=${encodeURIComponent(url)}`)
      : 'a picture'

    expect(direct).toMatchObject({ outcome: 'refused' })
    // A relative location is one of the site's own paths.
    const isOfSite = redirected === 'a picture' || (redirected as { outcome?: string }).outcome === 'refused'
    expect(isOfSite).toBe(true)
    expect(secret.connections).toBe(0)
  })

  test('nothing on this machine is reached by a name that has another address when it is asked again', async () => {
    let asked = 0
    const rebinding: Resolver = async () => {
      asked += 1
      return asked === 1 ? [PUBLIC] : ['127.0.0.1']
    }

    const outcome = await read(`http://rebinding.test:${secret.port}/`, { resolve: rebinding })

    expect(outcome).toBe('a picture')
    expect(asked).toBe(1)
    expect(secret.connections).toBe(0)
  })

  test('nothing on this machine is reached by a name that has another address when it redirects to itself', async () => {
    let asked = 0
    const rebinding: Resolver = async () => {
      asked += 1
      return asked === 1 ? [PUBLIC] : ['127.0.0.1']
    }
    const to = encodeURIComponent(`http://rebinding.test:${secret.port}/`)

    const outcome = await read(`http://rebinding.test:${secret.port}/?to=${to}`, { resolve: rebinding })

    expect(outcome).toMatchObject({ outcome: 'refused' })
    expect(secret.connections).toBe(0)
  })

  test('nothing on this machine is reached by a connection that another request left open', async () => {
    // The site is a server of the operator's own, on this machine.
    const url = new URL(`http://own.test:${site.port}/`)
    const own = await http.send(httpRequest({ method: 'GET', url, pinnedAddress: '127.0.0.1' }))
    await own.readAll(1000)
    requests = []

    const outcomes = [
      await read(`http://own.test:${site.port}/`, { resolve: async () => ['127.0.0.1'] }),
      await read(`http://own.test:${site.port}/`, { resolve: async () => [UNREACHABLE] }),
      await read(`http://127.0.0.1:${site.port}/`),
    ]

    expect(outcomes).toMatchObject([{ outcome: 'refused' }, { outcome: 'failed' }, { outcome: 'refused' }])
    expect(requests).toHaveLength(0)
    http.close()
  })

  test.each(['127.0.0.1', '[::1]', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost'])(
    '%s is reached if the operator allows private addresses',
    async host => {
      const resolve: Resolver = async () => ['127.0.0.1']

      const outcome = await read(`http://${host}:${secret.port}/`, { resolve, allowsPrivate: true })

      expect(outcome).toBe('secret')
      expect(secret.connections).toBe(1)
    },
  )

  test.each(['169.254.169.254', '[fd00:ec2::254]', '0.0.0.0', '[::]', '224.0.0.1', '[fe80::1]'])(
    '%s is not reached even if the operator allows private addresses',
    async host => {
      const outcome = await read(`http://${host}:${secret.port}/`, { allowsPrivate: true })

      expect(outcome).toMatchObject({ outcome: 'refused' })
      expect(secret.connections).toBe(0)
    },
  )
})

describe('a public URL', () => {
  test('a public URL is fetched, with its type and its length', async () => {
    const outcome = await fetchOf('http://site.test/cat.png?size=1#part')

    expect(outcome).toMatchObject({ outcome: 'opened', contentType: 'image/png', bytes: 9 })
    if (outcome.outcome !== 'opened') throw new Error('It was not opened.')
    expect((await bytesOf(outcome.body)).toString()).toBe('a picture')
    expect(outcome.body.failure).toBeUndefined()
  })

  test('a public URL is asked for with few headers', async () => {
    await read('http://site.test:8080/cat.png?size=1#part')

    const [request] = requests
    expect(request!.method).toBe('GET')
    expect(new URL(request!.url).pathname + new URL(request!.url).search).toBe('/cat.png?size=1')
    expect(request!.headers).toEqual({
      host: 'site.test:8080',
      connection: 'close',
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'tollgate/1.2.3',
    })
  })

  test.each([301, 302, 303, 307, 308])('a public URL may redirect with status %p', async status => {
    const to = encodeURIComponent('http://other.test/cat.png')

    expect(await read(`http://site.test/?status=${status}&to=${to}`)).toBe('a picture')
    expect(requests.map(request => request.headers['host'])).toEqual(['site.test', 'other.test'])
  })

  test('a public URL may redirect to a path of its own', async () => {
    expect(await read('http://site.test/?to=/cat.png')).toBe('a picture')
  })

  test('a public URL may redirect five times, and not six', async () => {
    expect(await read('http://site.test/hops/5')).toBe('a picture')
    expect(await read('http://site.test/hops/6')).toEqual({
      outcome: 'failed',
      problem: 'more than 5 redirects',
      isPermanent: true,
    })
    expect(requests).toHaveLength(6 + 6)
  })

  test('a public URL may have several addresses, of which one need not answer', async () => {
    expect(await read('http://dual.test/')).toBe('a picture')
    expect(await read('http://half-down.test/')).toBe('a picture')
  })

  test('a public URL is asked for once, also if the answer never comes', async () => {
    const outcome = fetchOf('http://dual.test/silent')
    while (requests.length === 0) await turn()

    clock.advance(60_000)

    expect(await outcome).toMatchObject({ outcome: 'failed' })
    expect(requests).toHaveLength(1)
  })
})

describe('a fetch that fails says why, without a host', () => {
  test.each([
    ['http://absent.test/', 'DNS: DNS_ENOTFOUND', false],
    ['http://down.test/', 'connection: ECONNREFUSED', false],
    ['http://site.test/status/400', 'status 400', true],
    ['http://site.test/status/401', 'status 401', true],
    ['http://site.test/status/403', 'status 403', false],
    ['http://site.test/status/404', 'status 404', false],
    ['http://site.test/status/410', 'status 410', true],
    ['http://site.test/status/429', 'status 429', false],
    ['http://site.test/status/500', 'status 500', false],
    ['http://site.test/status/503', 'status 503', false],
    ['http://site.test/status/204', 'status 204', true],
    ['http://site.test/status/304', 'status 304', true],
    ['http://site.test/status/302', 'a redirect without a location', true],
    ['http://site.test/compressed', 'a compressed body', true],
    ['http://site.test/large', 'it has more than 1048576 bytes', true],
  ])('a fetch that fails says why, without a host: %s: %s', async (url, problem, isPermanent) => {
    expect(await read(url)).toEqual({ outcome: 'failed', problem, isPermanent })
  })

  test('a fetch that fails says why, without a host after a status of 4xx or 5xx behind a redirect too', async () => {
    expect(await read('http://site.test/?to=http://other.test/status/503')).toMatchObject({
      problem: 'status 503',
    })
  })

  test.each([
    ['', 'the URL is not valid'],
    ['cat.png', 'the URL is not valid'],
    ['http://', 'the URL is not valid'],
    ['http://1.2.3.4.5/', 'the URL is not valid'],
    [`http://site.test/${'x'.repeat(10_000)}`, 'the URL has more than 8192 characters'],
    ['ftp://site.test/', 'the URL is neither http nor https'],
    ['http://user@site.test/', 'the URL has a user name or a password'],
    ['http://:password@site.test/', 'the URL has a user name or a password'],
    ['http://127.0.0.1/', 'the address is not public (loopback)'],
  ])('%p is refused: %s', async (url, problem) => {
    expect(await read(url)).toEqual({ outcome: 'refused', problem })
  })
})

describe('limits', () => {
  test('a body that grows beyond the limit is cut', async () => {
    const outcome = await fetchOf('http://site.test/endless', { bytesMax: 3 * MEGABYTE })
    if (outcome.outcome !== 'opened') throw new Error('It was not opened.')

    const bytes = await bytesOf(outcome.body)

    expect(bytes.length).toBeLessThanOrEqual(3 * MEGABYTE)
    expect(outcome.body.failure).toEqual({ problem: 'it has more than 3145728 bytes', isPermanent: true })
    expect(await outcome.body.read()).toBeUndefined()
  })

  test('a body may be as long as the limit', async () => {
    expect(await read('http://site.test/large', { bytesMax: 2 * MEGABYTE })).toHaveLength(2 * MEGABYTE)
  })

  test.each([
    ['the resolver', 'http://never.test/'],
    ['the answer', 'http://site.test/silent'],
    ['the answer behind a redirect', 'http://site.test/?to=/silent'],
  ])('the time ends a fetch that waits for %s', async (_what, url) => {
    const asked = Promise.withResolvers<void>()
    const resolve: Resolver = name => {
      asked.resolve()
      return name === 'never.test' ? new Promise(() => {}) : resolveNames(name)
    }
    const outcome = fetchOf(url, { resolve, timeoutMs: 30_000 })
    await asked.promise
    while (!url.includes('never') && !requests.some(request => request.url.endsWith('/silent'))) {
      await new Promise(next => setImmediate(next))
    }

    clock.advance(30_000)

    expect(await outcome).toEqual({
      outcome: 'failed',
      problem: 'it took more than 30 s',
      isPermanent: false,
    })
  })

  test('the time ends a body that stalls, counted from the start', async () => {
    const outcome = await fetchOf('http://site.test/stalled', { timeoutMs: 30_000 })
    if (outcome.outcome !== 'opened') throw new Error('It was not opened.')
    const first = await outcome.body.read()
    const second = outcome.body.read()

    clock.advance(30_000)

    expect(first).toHaveLength(10)
    expect(await second).toBeUndefined()
    expect(outcome.body.failure).toEqual({ problem: 'it took more than 30 s', isPermanent: false })
  })

  test('the caller ends a fetch, before it begins, while it waits and while it is read', async () => {
    const before = await read('http://site.test/', { signal: AbortSignal.abort() })
    const leaving = new AbortController()
    const waiting = read('http://site.test/silent', { signal: leaving.signal })
    while (requests.length === 0) await turn()
    leaving.abort()
    const reading = new AbortController()
    const opened = await fetchOf('http://site.test/stalled', { signal: reading.signal })
    if (opened.outcome !== 'opened') throw new Error('It was not opened.')
    await opened.body.read()
    const next = opened.body.read()
    reading.abort()

    const aborted = { problem: 'aborted', isPermanent: false }
    expect(before).toEqual({ outcome: 'failed', ...aborted })
    expect(await waiting).toEqual({ outcome: 'failed', ...aborted })
    expect(await next).toBeUndefined()
    expect(opened.body.failure).toEqual(aborted)
  })

  test('a body that is cancelled ends, and says so', async () => {
    const outcome = await fetchOf('http://site.test/endless')
    if (outcome.outcome !== 'opened') throw new Error('It was not opened.')
    await outcome.body.read()
    const next = outcome.body.read()

    outcome.body.cancel()
    outcome.body.cancel()

    expect(await next).toBeUndefined()
    expect(await outcome.body.read()).toBeUndefined()
    expect(outcome.body.failure).toMatchObject({ problem: 'cancelled' })
  })

  test('a slow reader slows the site', async () => {
    let made = 0
    const slow = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: () =>
        new Response(
          new ReadableStream(
            {
              pull(all) {
                made += 1
                if (made > 64) all.close()
                else all.enqueue(new Uint8Array(MEGABYTE))
              },
            },
            { highWaterMark: 0 },
          ),
        ),
    })
    const url = `http://127.0.0.1:${slow.port}/`
    const outcome = await fetchOf(url, { allowsPrivate: true, bytesMax: 100 * MEGABYTE })
    if (outcome.outcome !== 'opened') throw new Error('It was not opened.')
    const first = (await outcome.body.read())!.length
    // As much as the buffers of the system take.
    for (let before = -1; before !== made;) {
      before = made
      await turns(200)
    }
    const stalledAt = made

    const rest = await bytesOf(outcome.body)

    expect(stalledAt).toBeLessThan(40)
    expect(first + rest.length).toBe(64 * MEGABYTE)
    await slow.stop(true)
  })
})

describe('the key of the operator', () => {
  const authorization = { hosts: ['site.test'], headers: { authorization: 'Bearer key' } }
  const keysSent = () => requests.map(request => request.headers['authorization'])
  /** Names that are in the operator's own network, where plain http may carry a key. */
  const privately = { allowsPrivate: true, resolve: (async () => ['127.0.0.1']) as Resolver }
  const ownHost = () => `own.test:${site.port}`
  const own = () => ({ ...privately, authorization: { ...authorization, hosts: [ownHost()] } })

  test('the key of the operator is sent to its hosts', async () => {
    await read(`http://${ownHost()}/`, own())

    expect(keysSent()).toEqual(['Bearer key'])
  })

  test('the key of the operator is not sent to other hosts or ports', async () => {
    await read(`http://other.test:${site.port}/`, own())
    await read(`http://sub.own.test:${site.port}/`, own())
    await read(`http://${ownHost()}/`, {
      ...privately,
      authorization: { ...authorization, hosts: ['own.test'] },
    })

    expect(keysSent()).toEqual([undefined, undefined, undefined])
  })

  test('the key of the operator is not sent over plain http to a public address', async () => {
    await read('http://site.test/', { authorization })

    expect(keysSent()).toEqual([undefined])
  })

  test('the key of the operator is sent behind a redirect within the origin, and not behind one to another host', async () => {
    const other = encodeURIComponent(`http://other.test:${site.port}/`)
    await read(`http://${ownHost()}/?to=/cat.png`, own())
    await read(`http://${ownHost()}/?to=${other}`, own())

    expect(keysSent()).toEqual(['Bearer key', 'Bearer key', 'Bearer key', undefined])
  })

  test('the key of the operator is not sent to its host behind a redirect from another one, nor on the way back to it', async () => {
    const back = encodeURIComponent(`http://${ownHost()}/admin`)
    const away = encodeURIComponent(`http://other.test:${site.port}/?to=${back}`)
    await read(`http://other.test:${site.port}/?to=${back}`, own())
    await read(`http://${ownHost()}/?to=${away}`, own())

    expect(keysSent()).toEqual([undefined, undefined, 'Bearer key', undefined, undefined])
  })

  test('the key of the operator cannot replace the headers of the gateway', async () => {
    const headers = { 'user-agent': 'other', 'Accept-Encoding': 'gzip', 'x-key': 'key' }
    await read(`http://${ownHost()}/`, { ...privately, authorization: { hosts: [ownHost()], headers } })

    expect(requests[0]!.headers['user-agent']).toBe('tollgate/1.2.3')
    expect(requests[0]!.headers['accept-encoding']).toBe('identity')
    expect(requests[0]!.headers['x-key']).toBe('key')
  })
})
