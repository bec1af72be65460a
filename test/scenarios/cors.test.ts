import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestAccount } from '../support/gateway.ts'
import { startScriptedGateway, type ScriptedGateway } from './scripted-gateway.ts'

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
      'access-control-allow-methods': 'GET, HEAD, POST',
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

    expect(asked.status).not.toBe(204)
    for (const { headers } of [asked, read]) expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('OPTIONS that is not a preflight is 405', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: { origin: PAGE },
    })

    expect(response.status).toBe(405)
  })
})

test.each(['off', 'https://other.example.com', 'http://app.example.com', 'https://app.example.com:8443'])(
  'with %s, the page gets no permission',
  async setting => {
    const gateway = await startScriptedGateway({ environment: { TOLLGATE_CORS_ORIGINS: setting } })
    try {
      const asked = await preflight(gateway, '/v1/chat/completions')
      const read = await fetch(`${gateway.url}/v1/models`, { headers: { origin: PAGE } })

      expect(asked.status).toBe(405)
      for (const { headers } of [asked, read]) expect(headers.get('access-control-allow-origin')).toBeNull()
    } finally {
      await gateway.stop()
    }
  },
)

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
