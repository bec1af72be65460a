import { expect, test } from 'bun:test'
import { nanoUsd, usd } from '../money.ts'
import { addExactUsd, parseExactUsd, roundUpToNanoUsd, type ExactUsd } from './exact-usd.ts'

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
