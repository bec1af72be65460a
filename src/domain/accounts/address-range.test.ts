import { describe, expect, test } from 'bun:test'
import { isInRanges, readAddressRange, type AddressRange } from './address-range.ts'

function rangeOf(text: string): AddressRange {
  const read = readAddressRange(text)
  if (!read.ok) throw new Error(read.remedy)
  return read.range
}

describe('an address is in a range', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['10.255.0.1', '10.0.0.0/8'],
    ['203.0.113.9', '0.0.0.0/0'],
    ['10.1.2.3', '10.1.2.3/32'],
    ['::ffff:10.1.2.3', '10.0.0.0/8'],
    ['::ffff:a01:203', '10.0.0.0/8'],
    ['2001:db8::1', '2001:db8::/32'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::/10'],
  ])('an address is in a range: %s is in %s', (address, range) => {
    expect(isInRanges(address, [rangeOf(range)])).toBe(true)
  })

  test.each([
    ['192.0.2.8', '192.0.2.7'],
    ['11.0.0.0', '10.0.0.0/8'],
    ['9.255.255.255', '10.0.0.0/8'],
    ['::1', '0.0.0.0/0'],
    ['127.0.0.1', '::/0'],
    ['2001:db9::1', '2001:db8::/32'],
    ['', '0.0.0.0/0'],
    ['unknown', '0.0.0.0/0'],
  ])('an address is in a range: %s is not in %s', (address, range) => {
    expect(isInRanges(address, [rangeOf(range)])).toBe(false)
  })

  test('an address is in a range if it is in one of several', () => {
    const ranges = ['10.0.0.0/8', '2001:db8::/32'].map(rangeOf)

    expect(isInRanges('2001:db8::9', ranges)).toBe(true)
  })
})

const EXAMPLES = 'write an address or a range such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32'

test.each([
  ['', EXAMPLES],
  ['10', EXAMPLES],
  ['10.0.0/8', EXAMPLES],
  ['010.0.0.1', EXAMPLES],
  ['0x7f.0.0.1', EXAMPLES],
  ['256.0.0.1', EXAMPLES],
  ['10.0.0.0/8/9', EXAMPLES],
  ['fe80::1%eth0', EXAMPLES],
  ['[2001:db8::1]', EXAMPLES],
  ['::ffff:10.0.0.0/104', EXAMPLES],
  ['10.0.0.0/33', 'write a prefix from 0 to 32'],
  ['10.0.0.0/', 'write a prefix from 0 to 32'],
  ['10.0.0.0/-1', 'write a prefix from 0 to 32'],
  ['2001:db8::/129', 'write a prefix from 0 to 128'],
  ['10.1.2.3/8', 'write 10.0.0.0/8, which begins at its first address'],
  ['2001:db8::1/32', 'write 2001:db8:0:0:0:0:0:0/32, which begins at its first address'],
])('the range "%s" is refused with a remedy', (text, remedy) => {
  expect(readAddressRange(text)).toEqual({ ok: false, remedy })
})
