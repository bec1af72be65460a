import fc from 'fast-check'
import { describe, expect, test } from 'bun:test'
import { forbiddenRange, isPrivateHost, systemResolver, type ForbiddenRange } from './address-guard.ts'
import { formatAddress, parseAddress } from '../../domain/ip-address.ts'
import { rejection } from '../../../test/support/rejection.ts'

const rangeOf = (text: string, { allowsPrivate = false } = {}) =>
  forbiddenRange(parseAddress(text)!, { allowsPrivate })

const forbidden: readonly [string, ForbiddenRange][] = [
  // IPv4, first and last of each range
  ['0.0.0.0', 'unspecified'],
  ['0.255.255.255', 'unspecified'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'carrier_nat'],
  ['100.127.255.255', 'carrier_nat'],
  ['127.0.0.0', 'loopback'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.255', 'loopback'],
  ['169.254.0.0', 'link_local'],
  ['169.254.255.255', 'link_local'],
  ['172.16.0.0', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.0', 'reserved'],
  ['192.0.0.255', 'reserved'],
  ['192.0.2.0', 'documentation'],
  ['192.0.2.255', 'documentation'],
  ['192.88.99.1', 'tunnel'],
  ['192.168.0.0', 'private'],
  ['192.168.255.255', 'private'],
  ['198.18.0.0', 'benchmark'],
  ['198.19.255.255', 'benchmark'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.255', 'documentation'],
  ['224.0.0.0', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.0', 'reserved'],
  ['255.255.255.254', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  // Metadata services
  ['169.254.169.254', 'metadata'],
  ['169.254.169.253', 'metadata'],
  ['169.254.170.2', 'metadata'],
  ['169.254.0.23', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['192.0.0.192', 'metadata'],
  ['168.63.129.16', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['fd20:ce::254', 'metadata'],
  ['fd00:c1::a9fe:a9fe', 'metadata'],
  // IPv4 in other spellings
  ['2130706433', 'loopback'],
  ['0x7f000001', 'loopback'],
  ['0x7f.1', 'loopback'],
  ['0177.0.0.1', 'loopback'],
  ['017700000001', 'loopback'],
  ['127.1', 'loopback'],
  ['127.0.0.1.', 'loopback'],
  ['0', 'unspecified'],
  ['0xa.0x0.0x0.0x1', 'private'],
  ['2852039166', 'metadata'],
  ['0xa9fea9fe', 'metadata'],
  ['0251.0376.0251.0376', 'metadata'],
  ['169.254.43518', 'metadata'],
  // IPv4 inside IPv6
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:169.254.169.254', 'metadata'],
  ['::ffff:a9fe:a9fe', 'metadata'],
  ['::ffff:10.0.0.1', 'private'],
  ['::ffff:0.0.0.0', 'unspecified'],
  ['::127.0.0.1', 'loopback'],
  ['::169.254.169.254', 'metadata'],
  ['::8.8.8.8', 'reserved'],
  ['::ffff:0:127.0.0.1', 'loopback'],
  ['::ffff:0:8.8.8.8', 'reserved'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::a9fe:a9fe', 'metadata'],
  ['64:ff9b::10.1.2.3', 'private'],
  ['64:ff9b::0.0.0.0', 'unspecified'],
  ['64:ff9b:1::127.0.0.1', 'local_nat64'],
  ['64:ff9b:1::8.8.8.8', 'local_nat64'],
  ['64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'local_nat64'],
  ['2002:7f00:1::', 'tunnel'],
  ['2002:a9fe:a9fe::1', 'tunnel'],
  ['2002:808:808::1', 'tunnel'],
  ['2001::1', 'tunnel'],
  ['2001:0:4136:e378:8000:63bf:80ff:fffe', 'tunnel'],
  // IPv6
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::2', 'unspecified'],
  ['fc00::', 'private'],
  ['fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private'],
  ['fec0::1', 'private'],
  ['fe80::1', 'link_local'],
  ['febf:ffff::1', 'link_local'],
  ['fe80::1%eth0', 'link_local'],
  ['fe80::1%25eth0', 'link_local'],
  ['::1%lo', 'link_local'],
  ['2606:4700:4700::1111%eth0', 'link_local'],
  ['ff02::1', 'multicast'],
  ['ff0e::1', 'multicast'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['2001:2::1', 'benchmark'],
  ['2001:10::1', 'reserved'],
  ['2001:1ff:ffff::1', 'reserved'],
  ['100::1', 'reserved'],
  ['64:ff9a::8.8.8.8', 'reserved'],
  ['64:ff9b:0:0:0:1:808:808', 'reserved'],
  ['1::1', 'reserved'],
  ['4000::1', 'reserved'],
  ['5f00::1', 'reserved'],
]

describe('an address that is not a public server is forbidden', () => {
  test.each(forbidden)('an address that is not a public server is forbidden: %s: %s', (text, range) => {
    expect(rangeOf(text)).toBe(range)
  })
})

describe('a public address is allowed', () => {
  test.each([
    '1.0.0.0',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '168.63.129.17',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.0.3.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '203.0.112.255',
    '203.0.114.0',
    '223.255.255.255',
    '134744072',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2000::1',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:db7:ffff::1',
    '2001:db9::1',
    '2003::1',
    '2606:4700:4700::1111',
    '3ffe:ffff::1',
    '3fff:1000::1',
  ])('a public address is allowed: %s', text => {
    expect(rangeOf(text)).toBeUndefined()
  })
})

describe('where private networks are allowed', () => {
  test.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    'fd12:3456::1',
    '64:ff9b::10.1.2.3',
  ])('%s is allowed', text => {
    expect(rangeOf(text, { allowsPrivate: true })).toBeUndefined()
  })

  test.each([
    ['169.254.169.254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['64:ff9b::169.254.169.254', 'metadata'],
    ['169.254.1.1', 'link_local'],
    ['fe80::1', 'link_local'],
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['198.18.0.1', 'benchmark'],
    ['2002:7f00:1::', 'tunnel'],
    ['64:ff9b:1::7f00:1', 'local_nat64'],
  ] as const)('%s is still %s', (text, range) => {
    expect(rangeOf(text, { allowsPrivate: true })).toBe(range)
  })
})

test('a mapped address and a translated one are in the range of their IPv4 address', () => {
  fc.assert(
    fc.property(fc.ipV4(), ipv4 => {
      const range = rangeOf(ipv4)

      expect(rangeOf(`::ffff:${ipv4}`)).toBe(range)
      expect(rangeOf(`64:ff9b::${ipv4}`)).toBe(range)
    }),
    { numRuns: 2000 },
  )
})

test('the address that is connected to is in the same range as the text that was checked', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.ipV4Extended(), fc.ipV6(), fc.constantFrom(...forbidden.map(([text]) => text))),
      text => {
        const address = parseAddress(text)!
        if (address.hasZone) return

        expect(rangeOf(formatAddress(address))).toBe(rangeOf(text))
      },
    ),
    { numRuns: 2000 },
  )
})

const names: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [
      'public.test',
      'public.test.',
      'arpa.test',
      'localhost',
      'localhost.',
      'api.localhost',
      'metadata.google.internal',
      'comfyui',
      'comfyui.',
      'gpu.local',
      'gpu.home.arpa',
      'draw.images.svc',
      'gpu.lan',
      'gpu.corp',
    ].map(name => [name, ['93.184.215.14']]),
  ),
  'private.test': ['10.0.0.7'],
  'both.test': ['93.184.215.14', '127.0.0.1'],
  'v6.test': ['2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'nothing.test': [],
  'odd.test': ['not an address'],
}

async function resolve(name: string): Promise<readonly string[]> {
  const found = names[name]
  if (found === undefined) throw new Error('ENOTFOUND')
  return found
}

test.each([
  ['https://public.test/v1', false],
  ['https://v6.test/v1', false],
  ['https://93.184.215.14/v1', false],
  ['http://private.test/v1', true],
  ['http://both.test/v1', true],
  ['http://nothing.test/v1', true],
  ['http://unknown.test/v1', true],
  ['http://odd.test/v1', true],
  // Some resolvers answer names that do not exist with an address of their own.
  ['http://public.test./v1', false],
  ['http://localhost:8000/v1', true],
  ['http://localhost.:8000/v1', true],
  ['http://api.LOCALHOST/v1', true],
  ['http://metadata.google.internal/v1', true],
  ['http://comfyui:8188/v1', true],
  ['http://comfyui.:8188/v1', true],
  ['http://gpu.local/v1', true],
  ['http://gpu.home.arpa/v1', true],
  ['http://draw.images.svc/v1', true],
  ['http://gpu.lan/v1', true],
  ['http://gpu.corp/v1', true],
  ['http://arpa.test/v1', false],
  ['http://2130706433/v1', true],
  ['http://0x7f.1/v1', true],
  ['http://[::ffff:10.0.0.1]/v1', true],
  ['http://169.254.169.254/v1', true],
  ['http://127.0.0.1:9000/v1', true],
  ['http://[::1]/v1', true],
  ['http://192.168.1.1/v1', true],
])('a provider at %s is private: %p', async (url, isPrivate) => {
  expect(await isPrivateHost(new URL(url), resolve)).toBe(isPrivate)
})

test('the system knows the addresses of localhost', async () => {
  const addresses = await systemResolver('localhost')

  expect(addresses.length).toBeGreaterThan(0)
  expect(['127.0.0.1', '::1']).toEqual(expect.arrayContaining([...addresses]))
})

test('a name that does not exist is rejected with a code', async () => {
  // Reserved by RFC 6761: no resolver may know it. Without a network, the code differs.
  const error = await rejection(systemResolver('absent.invalid'))

  expect((error as { code: string }).code).toMatch(/^[A-Z_]+$/)
})
