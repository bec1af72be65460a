import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { usd } from '../domain/money.ts'
import { MemberWalk, keyOf } from './json/json-text.ts'
import { replyPlaces, withModelAndCost } from './pass-through.ts'

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
  ])('the cost is added at the end of the usage, or replaces the upstream’s: %s', (text, expected) => {
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
  ])('without a cost, cost_usd is removed: %s', (text, expected) => {
    expect(edited(text, null)).toBe(expected)
  })
})

describe('a reply without a usage object gets no cost', () => {
  test.each([
    '{"model":"up"}',
    '{"model":"up","usage":null}',
    '{"model":"up","usage":[]}',
    '{"model":"up","usage":"{}"}',
  ])('a reply without a usage object gets no cost: %s', text => {
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
  ])('the reply always has the logical name: %s', (text, expected) => {
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

/** Names and texts that could mislead a search for a name. */
const text = fc.constantFrom('model', 'usage', '"model"', '"usage":{}', 'a"usage', '\\', 'models', '', 'é')
const value = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
})).value
const member = fc.tuple(
  fc.constantFrom('"model"', '"usage"', '"mod\\u0065l"', '"id"', '"\\"usage\\""'),
  value,
)
const space = fc.constantFrom('', ' ', '\n\t')
const replies = fc
  .tuple(fc.array(fc.tuple(member, space), { maxLength: 5 }), space)
  .map(([members, blank]) => {
    const parts = members.map(
      ([[key, value], gap]) => `${gap}${key}${gap}:${blank}${JSON.stringify(value)}${gap}`,
    )
    return `${blank}{${blank}${parts.join(',')}}${blank}`
  })

test('the models and the last usage of any reply are members of its outermost object', () => {
  fc.assert(
    fc.property(replies, reply => {
      const members: { name: string; start: number; end: number }[] = []
      for (const walk = new MemberWalk(reply); walk.next();)
        members.push({ name: keyOf(reply, walk), start: walk.start, end: walk.end })
      const spansOf = (name: string) =>
        members.filter(one => one.name === name).map(({ start, end }) => [start, end])

      const { models, usage, isEmpty } = replyPlaces(reply)

      expect(models.map(({ start, end }) => [start, end])).toEqual(spansOf('model'))
      expect(usage && [usage.start, usage.end]).toEqual(spansOf('usage').at(-1))
      expect(isEmpty).toBe(members.length === 0)
    }),
    { numRuns: 5000 },
  )
})

test.each([
  '{"model":"a","data":["usage"]}',
  '{"model":"a","data":["usage",1]}',
  '{"model":"a","data":"usage"}',
  '{"model":"a","say \\"usage":{}}',
  '{"model":"a","data":"usage","b":1}',
  '{"model":"a","x":{"usage":{}}}',
  '{"model":"a","x":[{"usage":{}}]}',
  '{"model":"a","x":[{"usage":{},"b":1}],"c":2}',
])('a usage that is not a member of the outermost object is not found: %s', reply => {
  expect(replyPlaces(reply).usage).toBeUndefined()
})
