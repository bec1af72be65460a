import { isIPv6 } from 'node:net'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatAddress, parseAddress } from './ip-address.ts'

describe('every spelling of an IPv4 address is read', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.0.1',
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '00000000177.0.0.1',
    '017700000001',
    '0x7f.0.0.1',
    '0x7F.1',
    '0X7f000001',
    '0x7f.0x0.0x0.0x1',
    '0x7f.00.0.01',
    '127.0x1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:7F00:0001',
    '0:0:0:0:0:ffff:127.0.0.1',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
    '[::ffff:127.0.0.1]',
  ])('%s is 127.0.0.1', text => {
    const address = parseAddress(text)!

    expect(address.version).toBe(4)
    expect(formatAddress(address)).toBe('127.0.0.1')
  })

  test.each([
    ['0', '0.0.0.0'],
    ['0x', '0.0.0.0'],
    ['4294967295', '255.255.255.255'],
    ['0xffffffff', '255.255.255.255'],
    ['037777777777', '255.255.255.255'],
    ['1.16777215', '1.255.255.255'],
    ['1.2.65535', '1.2.255.255'],
    ['010.010.010.010', '8.8.8.8'],
  ])('%s is %s', (text, expected) => {
    expect(formatAddress(parseAddress(text)!)).toBe(expected)
  })
})

test.each([
  ['::', '0:0:0:0:0:0:0:0'],
  ['::1', '0:0:0:0:0:0:0:1'],
  ['[::1]', '0:0:0:0:0:0:0:1'],
  ['1::', '1:0:0:0:0:0:0:0'],
  ['2001:db8::8:800:200C:417A', '2001:db8:0:0:8:800:200c:417a'],
  ['64:ff9b::192.0.2.33', '64:ff9b:0:0:0:0:c000:221'],
  ['::127.0.0.1', '0:0:0:0:0:0:7f00:1'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
])('the IPv6 address %s is %s', (text, expected) => {
  const address = parseAddress(text)!

  expect(address.version).toBe(6)
  expect(formatAddress(address)).toBe(expected)
})

test.each(['fe80::1%eth0', 'fe80::1%25eth0', '[fe80::1%1]', '::ffff:127.0.0.1%lo', '::1%'])(
  '%s names an interface',
  text => {
    expect(parseAddress(text)).toMatchObject({ hasZone: true })
  },
)

describe('other text is not an address', () => {
  test.each([
    '',
    '.',
    '1.2.3.4.5',
    '1..2',
    '.1',
    '1.2.3.4..',
    '256.0.0.1',
    '1.256.1',
    '1.2.65536',
    '4294967296',
    '09.0.0.1',
    '08',
    '0xg',
    '1e3',
    '+1',
    '-1',
    ' 127.0.0.1',
    '127.0.0.1 ',
    '127.0.0.1\0',
    '١٢٧.0.0.1',
    'example.com',
    'localhost',
    '1.2.3.com',
    ':',
    ':::',
    ':1',
    '1:',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::12345',
    '::g',
    '1.2.3.4::',
    '::1.2.3',
    '::1.2.3.4.5',
    '::256.1.1.1',
    '::0177.0.0.1',
    '::1.2.3.4:5',
    '[127.0.0.1]extra',
    '[::1',
  ])('other text is not an address: %p', text => {
    expect(parseAddress(text)).toBeUndefined()
  })
})

/** A number below 2^bits in one of the spellings that a URL may have. */
const spelled = (bits: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: 2 ** bits - 1 }), fc.constantFrom('dec', 'oct', 'hex', 'HEX', 'padded'))
    .map(([number, spelling]) => {
      if (spelling === 'dec') return String(number)
      if (spelling === 'oct') return `0${number.toString(8)}`
      if (spelling === 'padded') return `0000${number.toString(8)}`
      return spelling === 'hex' ? `0x${number.toString(16)}` : `0X${number.toString(16).toUpperCase()}`
    })

const ipv4Text = fc
  .oneof(
    fc.tuple(spelled(32)),
    fc.tuple(spelled(8), spelled(24)),
    fc.tuple(spelled(8), spelled(8), spelled(16)),
    fc.tuple(spelled(8), spelled(8), spelled(8), spelled(8)),
  )
  .chain(parts => fc.constantFrom(parts.join('.'), `${parts.join('.')}.`))

test('IPv4 addresses are read as the URL parser reads them, in any spelling', () => {
  fc.assert(
    fc.property(ipv4Text, text => {
      expect(formatAddress(parseAddress(text)!)).toBe(new URL(`http://${text}/`).hostname)
    }),
    { numRuns: 1000 },
  )
})

/** Eight groups, many of them zero, and one of their spellings. */
const ipv6Text = fc
  .record({
    groups: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
      minLength: 8,
      maxLength: 8,
    }),
    isUpper: fc.boolean(),
    isPadded: fc.boolean(),
    isDotted: fc.boolean(),
    gapStart: fc.nat(8),
    gapLength: fc.nat(8),
  })
  .map(({ groups, isUpper, isPadded, isDotted, gapStart, gapLength }) => {
    const words = groups.map(group => group.toString(16).padStart(isPadded ? 4 : 1, '0'))
    const [high = 0, low = 0] = groups.slice(6)
    const gapEnd = Math.min(gapStart + gapLength, isDotted ? 6 : 8)
    const isGap = gapEnd > gapStart && groups.slice(gapStart, gapEnd).every(group => group === 0)
    const tail = isDotted ? [[high >> 8, high & 255, low >> 8, low & 255].join('.')] : words.slice(6)
    const all = [...words.slice(0, 6), ...tail]
    const text = isGap ? `${all.slice(0, gapStart).join(':')}::${all.slice(gapEnd).join(':')}` : all.join(':')
    return { groups, text: isUpper ? text.toUpperCase() : text }
  })

test('an IPv6 address is read in any spelling', () => {
  fc.assert(
    fc.property(ipv6Text, ({ groups, text }) => {
      const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
      const isMapped = value >> 32n === 0xffffn

      expect(parseAddress(text)).toEqual({
        version: isMapped ? 4 : 6,
        value: isMapped ? value & 0xffff_ffffn : value,
        hasZone: false,
      })
    }),
    { numRuns: 2000 },
  )
})

test('a text of colons, digits and dots is an IPv6 address if the system accepts it', () => {
  const parts = [':', '::', '0', 'ff', '1234', '12345', '1.2.3.4', '.', 'g']
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 16 }), found => {
      const text = found.join('')

      expect(parseAddress(`[${text}]`) !== undefined).toBe(isIPv6(text))
    }),
    { numRuns: 5000 },
  )
})
