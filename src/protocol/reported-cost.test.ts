import { describe, expect, test } from 'bun:test'
import { parseExactUsd, roundUpToNanoUsd } from '../domain/pricing/exact-usd.ts'
import { findReportedCost, type CostField } from './reported-cost.ts'

const costIn = (text: string, field?: CostField) =>
  findReportedCost((JSON.parse(text) as { usage?: unknown }).usage, () => text, field)

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

describe('a cost as OpenRouter reports it', () => {
  const byok = (usage: object) => JSON.stringify({ usage: { is_byok: true, ...usage } })

  test.each([
    [
      'has the cost of the provider behind it, if the request used the customer’s own key',
      '{"usage":{"cost":0.000012500000000001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.00025}}}',
      '0.000262500000000001',
    ],
    [
      'does not have it twice, if the request used OpenRouter’s key',
      '{"usage":{"cost":0.00025,"is_byok":false,"cost_details":{"upstream_inference_cost":0.00025}}}',
      '0.00025',
    ],
    [
      'is the fee alone if the other cost is missing',
      byok({ cost: 0.5, cost_details: { upstream_inference_cost: null } }),
      '0.5',
    ],
    [
      'is the other cost alone if the fee is missing',
      byok({ cost_details: { upstream_inference_cost: 0.5 } }),
      '0.5',
    ],
    ['needs the word true, not a text', '{"usage":{"cost":1,"is_byok":"true","cost_details":{}}}', '1'],
  ])('%s', (_, text, cost) => {
    expect(roundUpToNanoUsd(costIn(text)!)).toBe(roundUpToNanoUsd(parseExactUsd(cost)!))
  })
})

describe('a cost in the field that the row of the provider names', () => {
  const ticks: CostField = { path: ['cost_in_usd_ticks'], unitDecimals: 10 }
  const total: CostField = { path: ['cost', 'total_cost'], unitDecimals: 0 }
  const estimated: CostField = { path: ['estimated_cost'], unitDecimals: 0 }

  test.each([
    ['ticks, as xAI reports it', '{"usage":{"cost_in_usd_ticks":37756001}}', ticks, '0.0037756001'],
    ['DeepInfra’s estimate', '{"usage":{"estimated_cost":1.2345678901e-7}}', estimated, '1.2345678901e-7'],
    [
      'Perplexity’s total',
      '{"cost":1,"usage":{"total_cost":2,"cost":{"input_tokens_cost":3,"total_cost":0.00512}}}',
      total,
      '0.00512',
    ],
    ['a text', '{"usage":{"estimated_cost":"0.5"}}', estimated, '0.5'],
    [
      'the last member of a name',
      '{"usage":{"cost":{"total_cost":1},"cost":{"total_cost":1,"total_cost":2}}}',
      total,
      '2',
    ],
  ])('is read exactly: %s', (_, text, field, cost) => {
    expect(costIn(text, field)).toEqual(parseExactUsd(cost)!)
  })

  test.each([
    ['is missing, although there is a cost in another field', '{"usage":{"cost":1}}', ticks],
    ['is not a number', '{"usage":{"cost":{"total_cost":{}}}}', total],
    ['has another value in its path', '{"usage":{"cost":5}}', total],
    ['has a list in its path', '{"usage":{"cost":[1]}}', { path: ['cost', '0'], unitDecimals: 0 }],
  ])('is not reported if it %s', (_, text, field) => {
    expect(costIn(text, field)).toBeNull()
  })

  test('is not added to the cost behind OpenRouter', () => {
    const text = '{"usage":{"is_byok":true,"cost_details":{"upstream_inference_cost":1},"estimated_cost":2}}'

    expect(costIn(text, estimated)).toEqual(parseExactUsd('2')!)
  })
})
