import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  addDecimals,
  compareMagnitudes,
  formatDecimal,
  parseDecimal,
  shifted,
  subtractDecimals,
} from './decimal.ts'

const read = (text: string) => parseDecimal(text)!

describe('a decimal', () => {
  test.each([
    ['0', '0'],
    ['-0.0', '0'],
    ['0.06', '0.06'],
    ['12.500', '12.5'],
    ['1.5e-05', '0.000015'],
    ['1.5E+3', '1500'],
    ['-2e0', '-2'],
    ['0.13080438340307526', '0.13080438340307526'],
    ['123456789012345678901234567890.5', '123456789012345678901234567890.5'],
  ])('%s is read exactly, as %s', (text, canonical) => {
    expect(formatDecimal(read(text))).toBe(canonical)
  })

  test.each(['', 'abc', '1,5', '1.', '.5', '+1', 'NaN', '1e', '0x1', '1 ', '1e9999', '1'.repeat(65)])(
    'is not %p',
    text => {
      expect(parseDecimal(text)).toBeUndefined()
    },
  )

  test('in cents is a hundredth in dollars', () => {
    expect(formatDecimal(shifted(read('123.78912'), 2))).toBe('1.2378912')
  })

  test('is farther from zero than another one, whatever their signs and places are', () => {
    expect(compareMagnitudes(read('-2'), read('1.999'))).toBe(1)
    expect(compareMagnitudes(read('0.1'), read('-0.10'))).toBe(0)
    expect(compareMagnitudes(read('0.1'), read('0.11'))).toBe(-1)
  })

  test('adds and subtracts without rounding', () => {
    const number = fc.record({ digits: fc.bigInt(-(10n ** 20n), 10n ** 20n), places: fc.nat(30) })
    const scaled = ({ digits, places }: { digits: bigint; places: number }) =>
      digits * 10n ** BigInt(30 - places)

    fc.assert(
      fc.property(number, number, (left, right) => {
        expect(scaled(addDecimals(left, right))).toBe(scaled(left) + scaled(right))
        expect(scaled(subtractDecimals(left, right))).toBe(scaled(left) - scaled(right))
        expect(scaled(read(formatDecimal(left)))).toBe(scaled(left))
      }),
    )
  })
})
