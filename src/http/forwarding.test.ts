import { describe, expect, test } from 'bun:test'
import { Forwarding, type ForwardingSettings } from './forwarding.ts'

const PROXY = '10.0.0.1'
const OTHER_PROXY = '10.0.0.2'
const CLIENT = '203.0.113.7'

type Headers = Readonly<Record<string, string>>
type Header = ForwardingSettings['proxyHeader']

function forwarding(proxyHeader: Header): Forwarding {
  const trustedProxies = [
    { address: '10.0.0.0', prefix: 8 },
    { address: 'fd00::', prefix: 8 },
  ]
  return new Forwarding({ trustedProxies, proxyHeader })
}

const requestOf = (headers: Headers, remoteAddress: string) => ({
  header: (name: string) => headers[name] ?? null,
  remoteAddress,
})

const clientOf = (value: string, from = PROXY, header: Header = 'x-forwarded-for') =>
  forwarding(header).clientAddress(requestOf({ [header]: value }, from))

describe('the address of a client', () => {
  test('the address of a client is that of the connection, without a header or behind no trusted proxy', () => {
    expect(forwarding('x-forwarded-for').clientAddress(requestOf({}, PROXY))).toBe(PROXY)
    expect(clientOf('1.1.1.1', CLIENT)).toBe(CLIENT)
    expect(clientOf('1.1.1.1', `::ffff:${CLIENT}`)).toBe(CLIENT)
  })

  test.each([
    ['one proxy', CLIENT],
    ['two proxies', `${CLIENT}, ${OTHER_PROXY}`],
    ['a client that names another', `1.1.1.1, ${CLIENT}, ${OTHER_PROXY}`],
    ['a client that names a trusted proxy', `${OTHER_PROXY}, ${CLIENT}`],
    ['a port', `${CLIENT}:4711`],
    ['an IPv4 address over IPv6', `::ffff:${CLIENT}`],
  ])('the address of a client is the first from the right that is not trusted: %s', (_, value) => {
    expect(clientOf(value)).toBe(CLIENT)
    expect(clientOf(value, 'fd00::1')).toBe(CLIENT)
  })

  test('the address of a client can be an IPv6 address', () => {
    expect(clientOf('2001:db8::1')).toBe('2001:db8::1')
    expect(clientOf('[2001:db8::1]:443')).toBe('2001:db8::1')
  })

  test('the address of a client is the first proxy when all hops are trusted', () => {
    expect(clientOf(`${OTHER_PROXY}, 10.9.9.9`)).toBe(OTHER_PROXY)
  })

  test.each(['', 'unknown', 'a"b', '1.1.1', '999.1.1.1'])(
    'the address of a client is that of the last hop before %p',
    value => {
      expect(clientOf(value)).toBe(PROXY)
      expect(clientOf(`${value}, ${OTHER_PROXY}`)).toBe(OTHER_PROXY)
    },
  )

  test.each([
    [`for=${CLIENT}`, CLIENT],
    [`For="${CLIENT}:80";proto=https;by=10.0.0.3, for=${OTHER_PROXY}`, CLIENT],
    ['for="[2001:db8::1]:4711"', '2001:db8::1'],
    [`for=1.1.1.1, for="a, b; \\"c", for=${OTHER_PROXY}`, OTHER_PROXY],
    ['for=_hidden', PROXY],
    ['for=unknown', PROXY],
    ['proto=https', PROXY],
    ['for', PROXY],
    [`for=${CLIENT};`, PROXY],
    [`for=${CLIENT} x`, PROXY],
  ])('the address of a client is read from Forwarded: %s', (value, client) => {
    expect(clientOf(value, PROXY, 'forwarded')).toBe(client)
  })

  test('the address of a client is read only from the chosen header', () => {
    const headers = { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=2.2.2.2' }

    expect(forwarding('forwarded').clientAddress(requestOf(headers, PROXY))).toBe('2.2.2.2')
    expect(forwarding('x-forwarded-for').clientAddress(requestOf(headers, PROXY))).toBe('1.1.1.1')
  })
})

describe('the host and scheme that the client used', () => {
  const element = `for=1.1.1.1;host=evil.test, for=${CLIENT};host=api.test;proto=https, for=${OTHER_PROXY};host=inner`

  test('the host and scheme that the client used are those of the farthest trusted proxy in Forwarded', () => {
    const origin = forwarding('forwarded').publicOrigin(requestOf({ forwarded: element }, PROXY))

    expect(origin).toMatchObject({ host: 'api.test', scheme: 'https' })
  })

  test('the host and scheme that the client used are not read from another sender', () => {
    const headers = { forwarded: element, 'x-forwarded-host': 'evil.test' }

    expect(forwarding('forwarded').publicOrigin(requestOf(headers, CLIENT))).toEqual({})
    expect(forwarding('x-forwarded-for').publicOrigin(requestOf(headers, CLIENT))).toEqual({})
  })
})
