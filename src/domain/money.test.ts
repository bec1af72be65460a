import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatUsd, nanoUsd, parseUsd, usd } from './money.ts'

test.each([
  [0n, '0'],
  [1n, '0.000000001'],
  [3_750_000n, '0.00375'],
  [1_000_000_000n, '1'],
  [12_500_000_000n, '12.5'],
  [-250_000_000n, '-0.25'],
  [9_007_199_254_740_991n, '9007199.254740991'],
  [9_007_199_254_740_992n, '9007199.254740992'],
  [123_456_789_012_345_678_901n, '123456789012.345678901'],
])('%p billionths of a dollar are %s dollars', (billionths, text) => {
  expect(formatUsd(nanoUsd(billionths))).toBe(text)
  expect(parseUsd(text)).toBe(nanoUsd(billionths))
})

test('any amount survives formatting and parsing, in its shortest form', () => {
  const amount = fc.oneof(
    fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
    fc.bigInt({ min: 0n, max: 2n * 10n ** 9n }),
  )
  fc.assert(
    fc.property(amount, billionths => {
      const text = formatUsd(nanoUsd(billionths))

      expect(usd(text)).toBe(nanoUsd(billionths))
      expect(text).toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d{0,8}[1-9])?$/)
    }),
  )
})

test.each(['', '1e3', '+1', '.5', '1.', ' 1', '0.0000000001', '1,5', '--1'])('%p is not an amount', text => {
  expect(parseUsd(text)).toBeUndefined()
  expect(() => usd(text)).toThrow(RangeError)
})
