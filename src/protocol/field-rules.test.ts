import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { stepsOf, type Scalar } from '../domain/catalog/field-rule.ts'
import { findRefusedField } from './field-rules.ts'

const RULES: Readonly<Record<string, readonly Scalar[]>> = {
  service_tier: ['default', 'flex'],
  'tools[].type': ['function'],
  'extra_body.google.tools': [],
  enable_search: [false],
  web_search_options: [],
  'include[]': ['a', 1],
}

const refusalOf = (text: string, rules = RULES) =>
  findRefusedField(
    Object.entries(rules).map(([path, allowed]) => ({ path, steps: stepsOf(path), allowed })),
    text,
  )

describe('is allowed', () => {
  test.each([
    '{}',
    '{"messages":[{"service_tier":"priority","tools":[{"type":"web_search"}]}]}',
    '{"service_tier":null,"tools":null,"extra_body":null}',
    '{"service_tier":"default"}',
    String.raw`{"service\u005ftier":"fl\u0065x"}`,
    '{"tools":[]}',
    '{"tools":[{"type":"function"},{"name":"x"},{"type":null}, "text", null]}',
    '{"tools":"none"}',
    '{"extra_body":{"google":{"thinking":1}},"enable_search":false}',
    '{ "include" : [ "a" , 1.0 , null ] }',
    '{"x":1,"x":2,"X":3}',
  ])('a request is allowed: %s', text => {
    expect(refusalOf(text)).toBeUndefined()
  })
})

describe('is refused', () => {
  test.each([
    ['{"service_tier":"priority"}', 'service_tier'],
    ['{"service_tier":"Default"}', 'service_tier'],
    ['{"service_tier":["default"]}', 'service_tier'],
    [String.raw`{"s\u0065rvice_tier":"priority"}`, 'service_tier'],
    ['{"tools":[{"type":"function"}, {"type":"web_search"}]}', 'tools[1].type'],
    ['{"a":[1,{"b":"]"}],"tools":[[],{"type":{}}]}', 'tools[0]'],
    ['{"tools":[{"x":[{"type":"function"}]},{"type":{}}]}', 'tools[1].type'],
    ['{"extra_body":{"google":{"tools":[]}}}', 'extra_body.google.tools'],
    ['{"enable_search":true}', 'enable_search'],
    ['{"enable_search":"false"}', 'enable_search'],
    ['{"web_search_options":{}}', 'web_search_options'],
    ['{"include":["a",2]}', 'include[1]'],
  ])('a request is refused: %s at %s', (text, param) => {
    const refusal = refusalOf(text)

    expect(refusal?.code).toBe('unpriced_feature')
    expect(refusal?.extras.param).toBe(param)
  })

  test.each([
    ['a repeated name', '{"service_tier":"default","service_tier":"default"}', 'service_tier'],
    ['a name repeated with null', '{"service_tier":null,"service_tier":"flex"}', 'service_tier'],
    ['a name in another case', '{"Service_Tier":"default"}', 'service_tier'],
    ['a name with a long s', String.raw`{"\u017fervice_tier":"default"}`, 'service_tier'],
    ['a name in another case, repeated', '{"service_tier":"flex","SERVICE_TIER":"flex"}', 'service_tier'],
    ['a list in another case', '{"Tools":[]}', 'tools'],
    ['a repeated list', '{"tools":[],"tools":[{"type":"web_search"}]}', 'tools'],
    [
      'a repeated name in an item',
      '{"tools":[{"type":"function"},{"type":"function","type":"function"}]}',
      'tools[1].type',
    ],
    ['a name in another case in an item', '{"tools":[{"TYPE":"function"}]}', 'tools[0].type'],
    ['a name in another case at depth', '{"extra_body":{"google":{"Tools":1}}}', 'extra_body.google.tools'],
    ['an object in place of a list', '{"tools":{"type":"web_search"}}', 'tools'],
    ['a list in place of an object', '{"extra_body":[{"google":{"tools":[]}}]}', 'extra_body'],
  ])('a request is refused: %s', (_, text, param) => {
    const refusal = refusalOf(text)

    expect(refusal?.code).toBe('unpriced_feature')
    expect(refusal?.extras.param).toBe(param)
  })

  test('a request is refused with the allowed values in the message', () => {
    expect(refusalOf('{"tools":[{"type":"mcp"}]}')?.message).toBe(
      '"tools[0].type" must be "function", or absent: other values have no price.',
    )
    expect(refusalOf('{"service_tier":"fast"}')?.message).toBe(
      '"service_tier" must be one of "default", "flex", or absent: other values have no price.',
    )
    expect(refusalOf('{"enable_search":[]}')?.message).toBe(
      '"enable_search" must be false, or absent: other values have no price.',
    )
    expect(refusalOf('{"web_search_options":1}')?.message).toBe(
      '"web_search_options" has no price for this model. Leave it out.',
    )
    expect(refusalOf('{"Service_Tier":1}')?.message).toBe(
      'Some parsers read "Service_Tier" as "service_tier", and others do not. ' +
        'Send "service_tier" once, with exactly this spelling, or leave it out.',
    )
  })
})

test('the values that are found are those that JSON.parse finds', () => {
  const body = fc.record({
    a: fc.oneof(fc.jsonValue(), fc.array(fc.record({ b: fc.jsonValue() }))),
    other: fc.jsonValue(),
  })
  fc.assert(
    fc.property(body, value => {
      const isContainer = (part: unknown) => typeof part === 'object' && part !== null
      const parsed = JSON.parse(JSON.stringify(value, null, 1)) as typeof value
      const a = parsed.a as unknown
      const isRefused = Array.isArray(a)
        ? a.some(item => (Array.isArray(item) ? true : isContainer(item) && hasSpelling(item)))
        : isContainer(a)

      expect(refusalOf(JSON.stringify(value, null, 1), { 'a[].b': [] }) !== undefined).toBe(isRefused)
    }),
  )
})

/** Whether an object has a member `b` that is not null, or one that some parsers read as `b`. */
function hasSpelling(item: object): boolean {
  return Object.entries(item).some(([name, value]) => (name === 'b' ? value !== null : name === 'B'))
}
