import { describe, expect, test } from 'bun:test'
import { usd } from '../domain/money.ts'
import { withModelAndCost } from './reply-edits.ts'

function edited(text: string, cost: string | null): string {
  const { usage } = JSON.parse(text) as { usage?: unknown }
  return withModelAndCost({ text, usage }, { model: 'gpt-x', cost: cost === null ? null : usd(cost) })
}

describe('the cost is added at the end of the usage, or replaces the upstream’s', () => {
  test.each([
    ['{"model":"up","usage":{"n":1.0}}', '{"model":"gpt-x","usage":{"n":1.0,"cost_usd":"0.5"}}'],
    ['{"usage":{"n":1},"model":"up"}', '{"usage":{"n":1,"cost_usd":"0.5"},"model":"gpt-x"}'],
    ['{"model":"up","usage":{}}', '{"model":"gpt-x","usage":{"cost_usd":"0.5"}}'],
    ['{"model":"up","usage":{ }}', '{"model":"gpt-x","usage":{"cost_usd":"0.5" }}'],
    ['{"model":"up","usage":{\n "n":{} \n}}', '{"model":"gpt-x","usage":{\n "n":{},"cost_usd":"0.5" \n}}'],
    ['{"model":"up","usage":{"cost_usd":9e9,"n":1}}', '{"model":"gpt-x","usage":{"cost_usd":"0.5","n":1}}'],
    [
      '{"model":"up","usage":{"n":1,"cost\\u005fusd":1}}',
      '{"model":"gpt-x","usage":{"n":1,"cost\\u005fusd":"0.5"}}',
    ],
    [
      '{"model":"up","usage":{"cost_usd":1,"n":1, "cost_usd":2 ,"cost_usd":3}}',
      '{"model":"gpt-x","usage":{"cost_usd":"0.5","n":1}}',
    ],
  ])('%s', (text, expected) => {
    expect(edited(text, '0.5')).toBe(expected)
  })
})

describe('without a cost, cost_usd is removed', () => {
  test.each([
    ['{"model":"up","usage":{"n":1}}', '{"model":"gpt-x","usage":{"n":1}}'],
    ['{"model":"up","usage":{"cost_usd":1}}', '{"model":"gpt-x","usage":{}}'],
    ['{"model":"up","usage":{"cost_usd":1,"n":1}}', '{"model":"gpt-x","usage":{"n":1}}'],
    ['{"model":"up","usage":{"n":1, "cost_usd":1 }}', '{"model":"gpt-x","usage":{"n":1 }}'],
    ['{"model":"up","usage":{"cost_usd":1,"cost_usd":2}}', '{"model":"gpt-x","usage":{}}'],
    [
      '{"model":"up","usage":{"cost_usd":1,"a":1,"cost_usd":2,"cost_usd":3,"b":2}}',
      '{"model":"gpt-x","usage":{"a":1,"b":2}}',
    ],
  ])('%s', (text, expected) => {
    expect(edited(text, null)).toBe(expected)
  })
})

describe('a reply without a usage object gets no cost', () => {
  test.each([
    '{"model":"up"}',
    '{"model":"up","usage":null}',
    '{"model":"up","usage":[]}',
    '{"model":"up","usage":"{}"}',
  ])('%s', text => {
    expect(edited(text, '0.5')).toBe(text.replace('up', 'gpt-x'))
  })
})

describe('the reply always has the logical name', () => {
  test.each([
    ['{"id":1}', '{"model":"gpt-x","id":1}'],
    [' { "id":1}', ' {"model":"gpt-x", "id":1}'],
    ['{}', '{"model":"gpt-x"}'],
    ['{"model":null}', '{"model":"gpt-x"}'],
    ['{"model":"a","mod\\u0065l":"b"}', '{"model":"gpt-x","mod\\u0065l":"gpt-x"}'],
    ['{"x":{"model":"a"},"model":"b"}', '{"x":{"model":"a"},"model":"gpt-x"}'],
  ])('%s', (text, expected) => {
    expect(edited(text, null)).toBe(expected)
  })
})

test('an object inside a frame is edited at the offset of its brace', () => {
  const text = '{"type":"response.completed","model":"kept","response":{"model":"up","usage":{"n":1}}}'
  const start = text.indexOf('{"model":"up"')

  const reply = withModelAndCost({ text, usage: { n: 1 }, start }, { model: 'gpt-x', cost: usd('0.5') })

  expect(reply).toBe(
    '{"type":"response.completed","model":"kept","response":{"model":"gpt-x","usage":{"n":1,"cost_usd":"0.5"}}}',
  )
})
