import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nanoUsd, usd } from '../money.ts'
import {
  addExactUsd,
  compareMagnitudes,
  formatExactUsd,
  parseExactUsd,
  roundUpToNanoUsd,
  subtractExactUsd,
  type ExactUsd,
} from './exact-usd.ts'

const exact = (text: string) => parseExactUsd(text) as ExactUsd

test.each([
  ['0.00375', 375n, 5],
  ['0', 0n, 0],
  ['-0.0', 0n, 0],
  ['0e99', 0n, 0],
  ['1', 1n, 0],
  ['1.2345678901e-7', 12_345_678_901n, 17],
  ['1.5E-8', 15n, 9],
  ['2.5e+1', 25n, 0],
  ['25e20', 2_500_000_000_000_000_000_000n, 0],
  ['-0.5', -5n, 1],
  ['123456789012345678901.5', 1_234_567_890_123_456_789_015n, 1],
])('a cost of %s dollars keeps every digit', (text, units, scale) => {
  expect(parseExactUsd(text)).toEqual({ units, scale })
})

test.each([
  ['is empty', ''],
  ['has a currency', '$1'],
  ['has a comma', '1,5'],
  ['is a word', 'NaN'],
  ['is the word for a float without a limit', 'Infinity'],
  ['has no whole part', '.5'],
  ['has no fraction after its point', '1.'],
  ['is hexadecimal', '0x1'],
  ['is too large', '1e22'],
  ['has a very large exponent', '1e9999'],
  ['has an exponent with too many digits', '1e99999'],
  ['has a plus sign', '+1'],
  ['has no exponent after its e', '1e'],
  ['ends with a space', '1 '],
  ['is too small', '1e-129'],
  ['has a very small exponent', '1e-9999'],
  ['has more digits than any cost', '9'.repeat(65)],
  ['has a million decimals', `0.${'1'.repeat(1_000_000)}`],
])('a text that %s is not a cost', (_, text) => {
  expect(parseExactUsd(text)).toBeUndefined()
})

test.each([
  ['37756000', 10, '0.0037756'],
  ['12.5', 2, '0.125'],
  ['1e3', 2, '10'],
])('%s in a unit of 10^-%p dollars is %s dollars', (text, decimals, dollars) => {
  expect(roundUpToNanoUsd(parseExactUsd(text, decimals) as ExactUsd)).toBe(usd(dollars))
})

test.each([
  ['0.0000000001', 1n],
  ['0.123456789000', 123_456_789n],
  ['0.1234567890001', 123_456_790n],
  ['7', 7_000_000_000n],
  ['0', 0n],
])('%s dollars are %p nano-USD, rounded up', (text, billionths) => {
  expect(roundUpToNanoUsd(exact(text))).toBe(nanoUsd(billionths))
})

test('the sum of two costs with different numbers of decimals is exact', () => {
  expect(addExactUsd(exact('0.1'), exact('1e-12'))).toEqual({ units: 100_000_000_001n, scale: 12 })
  expect(addExactUsd(exact('1e-12'), exact('3'))).toEqual({ units: 3_000_000_000_001n, scale: 12 })
})

describe('an exact amount', () => {
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
  ])('an exact amount that is read from %s is written as %s', (text, canonical) => {
    expect(formatExactUsd(exact(text))).toBe(canonical)
  })

  test('an exact amount in cents is a hundredth in dollars', () => {
    expect(formatExactUsd(parseExactUsd('123.78912', 2)!)).toBe('1.2378912')
  })

  test('an exact amount is farther from zero than another one, regardless of their signs and scales', () => {
    expect(compareMagnitudes(exact('-2'), exact('1.999'))).toBe(1)
    expect(compareMagnitudes(exact('0.1'), exact('-0.10'))).toBe(0)
    expect(compareMagnitudes(exact('0.1'), exact('0.11'))).toBe(-1)
  })

  test('an exact amount adds and subtracts without rounding', () => {
    const amount = fc.record({ units: fc.bigInt(-(10n ** 20n), 10n ** 20n), scale: fc.nat(30) })
    const scaled = ({ units, scale }: ExactUsd) => units * 10n ** BigInt(30 - scale)

    fc.assert(
      fc.property(amount, amount, (left, right) => {
        expect(scaled(addExactUsd(left, right))).toBe(scaled(left) + scaled(right))
        expect(scaled(subtractExactUsd(left, right))).toBe(scaled(left) - scaled(right))
        expect(scaled(exact(formatExactUsd(left)))).toBe(scaled(left))
      }),
    )
  })
})
