import { describe, expect, test } from 'bun:test'
import { Forwarding } from '../forwarding.ts'
import { isSecure, requireOwnSite } from './own-site.ts'

const PROXY = '10.0.0.7'
const forwarding = new Forwarding({
  trustedProxies: [{ address: PROXY, prefix: 32 }],
  proxyHeader: 'x-forwarded-for',
})

/** Headers of a proxy that ends TLS for `console.example.com/gateway/`. */
const FORWARDED = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'console.example.com',
  'x-forwarded-proto': 'https',
}

function requestOf(headers: Readonly<Record<string, string>>, from = PROXY, method = 'POST') {
  return { method, remoteAddress: from, header: (name: string) => headers[name] ?? null }
}

/** `admitted`, or the code of the refusal. */
function outcomeOf(request: ReturnType<typeof requestOf>, baseUrl?: string): unknown {
  try {
    requireOwnSite(request, { forwarding, baseUrl })
    return 'admitted'
  } catch (error) {
    return (error as { code?: unknown }).code
  }
}

describe('a change behind a proxy that ends TLS', () => {
  const own = { ...FORWARDED, host: '127.0.0.1:8080', origin: 'https://console.example.com' }

  test.each<[string, string, Readonly<Record<string, string>>]>([
    ['of the host that a trusted proxy names', 'admitted', {}],
    [
      'with the default port in the header of the proxy',
      'admitted',
      { 'x-forwarded-host': 'console.example.com:443' },
    ],
    ['of another site', 'cross_site_request', { origin: 'https://evil.example.com' }],
    ['of another port', 'cross_site_request', { origin: 'https://console.example.com:8443' }],
    ['of the same host without TLS', 'cross_site_request', { origin: 'http://console.example.com' }],
    [
      'of the address of the gateway behind the proxy',
      'cross_site_request',
      { origin: 'https://127.0.0.1:8080' },
    ],
    ['of a frame without an origin', 'cross_site_request', { origin: 'null' }],
    ['that the browser says is of another site', 'cross_site_request', { 'sec-fetch-site': 'cross-site' }],
    ['that the browser says is of a subdomain', 'cross_site_request', { 'sec-fetch-site': 'same-site' }],
  ])('%s is %s', (_, outcome, headers) => {
    expect(outcomeOf(requestOf({ ...own, ...headers }))).toBe(outcome)
  })

  test('without the header Origin is refused', () => {
    const { origin: _, ...headers } = own

    expect(outcomeOf(requestOf(headers))).toBe('cross_site_request')
  })

  test('with the headers of a proxy that is not trusted is refused', () => {
    expect(outcomeOf(requestOf(own, '198.51.100.1'))).toBe('cross_site_request')
  })

  test('is admitted by TOLLGATE_BASE_URL if the proxy names nothing, also below a prefix', () => {
    const headers = { host: '127.0.0.1:8080', origin: 'https://console.example.com' }

    expect(outcomeOf(requestOf(headers), 'https://console.example.com/gateway')).toBe('admitted')
    expect(outcomeOf(requestOf(headers))).toBe('cross_site_request')
  })

  test('reads need no Origin, unless a page of another site asks for them', () => {
    const { origin: _, ...headers } = own

    expect(outcomeOf(requestOf(headers, PROXY, 'GET'))).toBe('admitted')
    expect(outcomeOf(requestOf({ ...headers, 'sec-fetch-site': 'cross-site' }, PROXY, 'GET'))).toBe(
      'cross_site_request',
    )
  })
})

test.each<[string, boolean, string, string | undefined]>([
  ['a trusted proxy that ends TLS', true, PROXY, undefined],
  ['a client that sends the headers of a proxy', false, '198.51.100.1', undefined],
  ['the public address', true, '198.51.100.1', 'https://console.example.com/gateway'],
])('the cookie by %s is Secure: %p', (_, isIt, from, baseUrl) => {
  expect(isSecure(requestOf(FORWARDED, from), { forwarding, baseUrl })).toBe(isIt)
})
