import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../domain/errors.ts'
import type { RequestContext } from '../request-context.ts'
import { routeTable } from '../routes.ts'
import { consoleFileRoutes, type ConsoleFiles } from './files.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const files: ConsoleFiles = {
  page: '<base href="./" />',
  assets: new Map([
    ['main-1a.js', { plain: bytes('plain'), gzip: bytes('gzip'), brotli: bytes('brotli') }],
    ['icon-2b.svg', { plain: bytes('<svg/>'), gzip: undefined, brotli: undefined }],
  ]),
}

/** Gets a path of a console at `/ops/console`. */
async function get(path: string, headers: Record<string, string> = {}, isBuilt = true) {
  const table = routeTable(consoleFileRoutes('/ops/console', isBuilt ? files : undefined))
  const request = { method: 'GET', path, header: (name: string) => headers[name] ?? null }
  const reply = await table.find('GET', path).handle({ request } as unknown as RequestContext)
  return { ...reply, text: reply.body === null ? '' : Buffer.from(reply.body as Uint8Array).toString() }
}

describe('the page of the console', () => {
  test.each([
    ['/ops/console', './console/'],
    ['/ops/console/', './'],
    ['/ops/console/accounts', './'],
    ['/ops/console/accounts/acct_1', '../'],
    ['/ops/console/accounts/acct_1/keys/', '../../../'],
  ])('the page at %s has the base %s, so that it works below any prefix of a proxy', async (path, base) => {
    const { text } = await get(path)

    expect(text).toBe(`<base href="${base}" />`)
    expect(new URL(base, `http://host/prefix${path}`).pathname).toBe('/prefix/ops/console/')
  })

  test('the page allows no script or style in itself, no other host and no frame', async () => {
    const { headers } = await get('/ops/console/')
    const policy = headers['content-security-policy']

    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
    })
  })

  test('a browser that has the page gets 304', async () => {
    const { headers } = await get('/ops/console/users')

    expect(await get('/ops/console/users', { 'if-none-match': headers['etag'] ?? '' })).toMatchObject({
      status: 304,
      body: null,
    })
  })

  test('a browser that opens the address of the gateway is sent to the console, and a program gets 404', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml' })
    const program = await get('/', { accept: '*/*' }).catch((error: unknown) => error)

    expect(browser).toMatchObject({ status: 302, headers: { location: 'ops/console/' } })
    expect(program).toMatchObject({ code: 'not_found', message: 'No route matches GET /.' })
  })

  test('a copy that is not built says how to build it', async () => {
    const refusal = await get('/ops/console/', {}, false).catch((error: unknown) => error)

    expect(refusal).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('npm start') as string,
    })
  })
})

describe('the files of the console', () => {
  test.each([
    ['gzip, deflate, br', 'br', 'brotli'],
    ['gzip, br;q=0', 'gzip', 'gzip'],
    ['', undefined, 'plain'],
  ])('a file for "%s" has the encoding %s', async (accepted, encoding, text) => {
    const reply = await get('/ops/console/assets/main-1a.js', { 'accept-encoding': accepted })

    expect(reply.text).toBe(text)
    expect(reply.headers['content-encoding']).toBe(encoding)
    expect(reply.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    })
  })

  test.each(['/assets/main-0.js', '/assets/../assets/main-1a.js', '/assets/', '/api', '/api/unknown'])(
    'a path %s that is no file and no page is 404',
    async path => {
      const refusal = await get(`/ops/console${path}`).catch((error: unknown) => error)

      expect(refusal).toBeInstanceOf(GatewayError)
      expect(refusal).toMatchObject({ code: 'not_found' })
    },
  )
})
