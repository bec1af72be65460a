import { expect, test } from 'bun:test'
import { nanoUsd } from '../domain/money.ts'
import { findReportedCost, parseReportedCost } from './reported-cost.ts'

test.each([
  ['0.00375', 3_750_000n],
  ['0', 0n],
  ['-0.0', 0n],
  ['0e99', 0n],
  ['1', 1_000_000_000n],
  ['1e-7', 100n],
  ['1.5E-8', 15n],
  ['2.5e+1', 25_000_000_000n],
  ['0.0000000001', 1n],
  ['0.123456789000', 123_456_789n],
  ['0.1234567890001', 123_456_790n],
  ['1e-400', 1n],
  ['-0.5', -500_000_000n],
  ['123456789012345678901.5', 123_456_789_012_345_678_901_500_000_000n],
])('a cost of %s dollars is %p billionths, rounded up', (text, billionths) => {
  expect(parseReportedCost(text)).toBe(nanoUsd(billionths))
})

test.each(['', '$1', '1,5', 'NaN', 'Infinity', '1e30', '1e99999', '.5', '1.', '0x1', '9'.repeat(65)])(
  '%p is not a cost',
  text => {
    expect(parseReportedCost(text)).toBeUndefined()
  },
)

const costIn = (text: string) => findReportedCost(text, (JSON.parse(text) as { usage?: unknown }).usage)

test.each([
  ['{"usage":{"cost":0.1}}', 100_000_000n],
  ['{"usage":{"cost":0.123456789012345678901}}', 123_456_790n],
  ['{"usage":{"cost":1e-7,"n":1}}', 100n],
  ['{"usage":{"cost":"0.25"}}', 250_000_000n],
  ['{"usage":{"cost":1},"usage":{"cost":2,"co\\u0073t":3}}', 3_000_000_000n],
])('the digits of %s are read exactly', (text, billionths) => {
  expect(costIn(text)).toBe(nanoUsd(billionths))
})

test.each([
  '{}',
  '{"usage":null}',
  '{"usage":[1]}',
  '{"usage":{}}',
  '{"usage":{"cost":null}}',
  '{"usage":{"cost":{"total":1}}}',
  '{"usage":{"cost":1e400}}',
  '{"cost":1,"usage":{"prompt_tokens":1}}',
])('%s has no cost', text => {
  expect(costIn(text)).toBeNull()
})
