import { expect, test } from 'bun:test'
import { parseExactUsd } from '../domain/pricing/exact-usd.ts'
import { findReportedCost } from './reported-cost.ts'

const costIn = (text: string) => findReportedCost(text, (JSON.parse(text) as { usage?: unknown }).usage)

test.each([
  ['{"usage":{"cost":0.1}}', '0.1'],
  ['{"usage":{"cost":0.123456789012345678901}}', '0.123456789012345678901'],
  ['{"usage":{"cost":1e-7,"n":1}}', '1e-7'],
  ['{"usage":{"cost":"0.25"}}', '0.25'],
  ['{"usage":{"cost":1},"usage":{"cost":2,"co\\u0073t":3}}', '3'],
])('the digits of %s are read exactly', (text, cost) => {
  expect(costIn(text)).toEqual(parseExactUsd(cost)!)
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
