import { describe, expect, test } from 'bun:test'
import { Forwarding, type ForwardingSettings } from '../forwarding.ts'
import { publicBaseUrl } from './video-routes.ts'

const PROXY = '127.0.0.1'
const trusting = (trustedProxies: ForwardingSettings['trustedProxies']) =>
  new Forwarding({ trustedProxies, proxyHeader: 'x-forwarded-for' })
const direct = trusting([])
const proxied = trusting([{ address: PROXY, prefix: 32 }])

function baseUrl(
  headers: Readonly<Record<string, string>>,
  forwarding: Forwarding = direct,
  own?: string,
): string {
  const request = { header: (name: string) => headers[name] ?? null, remoteAddress: PROXY }
  return publicBaseUrl(request, { baseUrl: own }, { forwarding })
}

test("the operator's base URL wins over every header", () => {
  const headers = { host: 'h', 'x-forwarded-host': 'f', 'x-forwarded-proto': 'https' }

  expect(baseUrl(headers, proxied, 'https://api.example.com/x')).toBe('https://api.example.com/x')
})

test.each([
  'localhost',
  'localhost:8787',
  'api.example.com',
  '127.0.0.1:80',
  '[::1]:8787',
  'under_score.test',
])('the host %p is used as it is', host => {
  expect(baseUrl({ host })).toBe(`http://${host}`)
})

test.each([
  '',
  'a b',
  'a/b',
  'user@host',
  'host:port',
  'host:',
  '"><script>',
  'a\\b',
  '-a',
  'a-',
  '[::1',
  'h?x',
  'h#x',
])('the host %p is not valid, and links are relative', host => {
  expect(baseUrl({ host })).toBe('')
})

test('without a host, links are relative', () => {
  expect(baseUrl({})).toBe('')
})

describe('forwarded headers', () => {
  const headers = { host: 'inner:8787', 'x-forwarded-host': 'api.example.com', 'x-forwarded-proto': 'https' }

  test('forwarded headers count only with a trusted proxy', () => {
    expect([baseUrl(headers), baseUrl(headers, proxied)]).toEqual([
      'http://inner:8787',
      'https://api.example.com',
    ])
  })

  test('forwarded headers may be lists, of which the first counts', () => {
    const lists = { 'x-forwarded-host': 'first.test, second.test', 'x-forwarded-proto': 'HTTPS, http' }

    expect(baseUrl({ ...headers, ...lists }, proxied)).toBe('https://first.test')
  })

  test('forwarded headers may be absent, one or both', () => {
    expect(baseUrl({ host: 'h', 'x-forwarded-proto': 'https' }, proxied)).toBe('https://h')
    expect(baseUrl({ host: 'h', 'x-forwarded-host': 'f' }, proxied)).toBe('http://f')
    expect(baseUrl({ host: 'h' }, proxied)).toBe('http://h')
  })

  test('forwarded headers are checked', () => {
    expect(baseUrl({ ...headers, 'x-forwarded-host': 'a/b' }, proxied)).toBe('')
    expect(baseUrl({ ...headers, 'x-forwarded-proto': 'javascript' }, proxied)).toBe('http://api.example.com')
  })
})
