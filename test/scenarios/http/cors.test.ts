import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../../support/gateway.ts'
import { ADMIN_KEY, startScriptedGateway, type ScriptedGateway } from '../gateways/scripted-gateway.ts'

const HELLO = '{"model":"gpt-x","messages":[{"role":"user","content":"Hello"}]}'
const PAGE = 'https://app.example.com'

describe.each([
  ['all origins', '*', '*', null],
  ['a list with the origin', `https://other.example.com, ${PAGE}`, PAGE, 'origin'],
])('with %s', (_, setting, allowed, vary) => {
  let gateway: ScriptedGateway
  let ada: TestAccount

  beforeAll(async () => {
    gateway = await startScriptedGateway({ environment: { TOLLGATE_CORS_ORIGINS: setting } })
    ada = await gateway.account({ grant: '1' })
  })
  afterAll(() => gateway.stop())

  test('a preflight is answered without a key, and gets the headers that it asked for', async () => {
    const response = await preflight(gateway, '/v1/chat/completions')

    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': allowed,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, x-stainless-os',
      'access-control-max-age': '7200',
    })
    expect(response.headers.get('vary')).toBe(vary)
  })

  test('a reply can be read with its cost, request id, replay, retry-after and rate limits', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': ada.key, origin: PAGE },
      body: HELLO,
    })

    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe(allowed)
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    expect(response.headers.get('access-control-expose-headers')?.split(', ')).toEqual(
      expect.arrayContaining([
        'x-service-cost-usd',
        'x-request-id',
        'x-service-replay',
        'retry-after',
        'x-ratelimit-remaining-tokens',
      ]),
    )
  })

  test('an error can be read too', async () => {
    const response = await fetch(`${gateway.url}/v1/balance`, { headers: { origin: PAGE } })

    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([401, allowed])
  })

  test.each(['/admin/v1/accounts', '/metrics', '/health/live'])('%s is not shared', async path => {
    const asked = await preflight(gateway, path)
    const read = await fetch(gateway.url + path, { headers: { origin: PAGE } })

    expect(asked.headers.get('access-control-allow-methods')).toBeNull()
    for (const { headers } of [asked, read]) expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('a preflight of a path without a route is answered, so that the page can read its 404', async () => {
    const response = await preflight(gateway, '/v1/nothing')

    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST')
  })
})

test.each(['off', 'https://other.example.com', 'http://app.example.com', 'https://app.example.com:8443'])(
  'with %s, the page gets no permission',
  async setting => {
    const gateway = await startScriptedGateway({ environment: { TOLLGATE_CORS_ORIGINS: setting } })
    try {
      const asked = await preflight(gateway, '/v1/chat/completions')
      const read = await fetch(`${gateway.url}/v1/models`, { headers: { origin: PAGE } })

      expect(asked.headers.get('access-control-allow-methods')).toBeNull()
      for (const { headers } of [asked, read]) expect(headers.get('access-control-allow-origin')).toBeNull()
    } finally {
      await gateway.stop()
    }
  },
)

test.each([
  ['/v1/chat/completions', {}, 'POST'],
  ['/v1/models', {}, 'GET, HEAD'],
  ['/metrics', {}, 'GET, HEAD'],
  ['/admin/api/accounts/ada', { authorization: `Bearer ${ADMIN_KEY}` }, 'GET, HEAD, PATCH'],
])('OPTIONS of %s lists the methods of the route', async (path, headers, allow) => {
  const gateway = await startScriptedGateway()

  const response = await fetch(gateway.url + path, { method: 'OPTIONS', headers })
  const keyless = await fetch(`${gateway.url}/admin/api/accounts/ada`, { method: 'OPTIONS' })
  const unknown = await fetch(`${gateway.url}/nothing`, { method: 'OPTIONS' })
  await gateway.stop()

  expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([204, allow, ''])
  expect([keyless.status, unknown.status]).toEqual([401, 404])
})

function preflight(gateway: ScriptedGateway, path: string): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'OPTIONS',
    headers: {
      origin: PAGE,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, x-stainless-os',
    },
  })
}
