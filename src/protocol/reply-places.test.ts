import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { keyOf, MemberWalk } from './json/members.ts'
import { replyPlaces } from './reply-places.ts'

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
