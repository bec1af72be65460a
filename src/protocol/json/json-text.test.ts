import { expect, test } from 'bun:test'
import { MemberWalk, keyOf, lastNamed, splice, spliceText } from './json-text.ts'

/** The key and the value's text of each member. */
function spansOf(text: string, objectStart?: number): [string, string][] {
  const spans: [string, string][] = []
  for (const walk = new MemberWalk(text, objectStart); walk.next();) {
    spans.push([keyOf(text, walk), text.slice(walk.start, walk.end)])
  }
  return spans
}

test('every member is found with the text of its value, without spaces', () => {
  const text = ' {\n "a" : 1.0 ,\t"b":[1,{"c":"]}"}] , "d":{ } ,"e":"x\\"}","f":null\n} '

  expect(spansOf(text)).toEqual([
    ['a', '1.0'],
    ['b', '[1,{"c":"]}"}]'],
    ['d', '{ }'],
    ['e', '"x\\"}"'],
    ['f', 'null'],
  ])
})

test('all duplicates are found, and keys are unescaped', () => {
  expect(spansOf('{"mod\\u0065l":1,"model":2,"é\\n":3}')).toEqual([
    ['model', '1'],
    ['model', '2'],
    ['é\n', '3'],
  ])
})

test.each(['{}', '{ }', ' {\n} '])('%p has no members', text => {
  expect(spansOf(text)).toEqual([])
})

test.each([0, 1, 2, 13, 14, 15, 16, 17, 21, 22, 23, 24, 25, 31, 32, 33])(
  'the end of a string with backslashes after %p characters is found',
  length => {
    const value = JSON.stringify('x'.repeat(length) + '\\"\\\\')

    expect(spansOf(`{"a":${value},"b":${value}}`)).toEqual([
      ['a', value],
      ['b', value],
    ])
  },
)

test('the members of an inner object are found by the offset of its brace', () => {
  const text = '{"usage":{"cost":1e-7,"n":2}}'

  const usage = lastNamed(text, 'usage')

  expect(spansOf(text, usage!.start)).toEqual([
    ['cost', '1e-7'],
    ['n', '2'],
  ])
})

test('very long keys are read', () => {
  const key = 'é"\\'.repeat(50_000)

  expect(spansOf(`{${JSON.stringify(key)}:1}`)).toEqual([[key, '1']])
})

test.each([
  ['model', '{"model":1}', true],
  ['model', '{"mod\\u0065l":1}', true],
  ['model', '{"\\u006d\\u006f\\u0064\\u0065\\u006c":1}', true],
  ['model', '{"models":1}', false],
  ['model', '{"mode":1}', false],
  ['model', '{"Model":1}', false],
  ['model', '{"":1}', false],
  ['model', '{"mod\\\\":1}', false],
])('whether a key is %s is found with and without escapes: %s', (name, text, expected) => {
  const walk = new MemberWalk(text)

  expect([walk.next(), walk.isNamed(name), walk.next()]).toEqual([true, expected, false])
})

test.each([
  ['{}', 1],
  ['{"a":1,"b":"{[[["}', 1],
  ['{"a":[],"b":{}}', 2],
  ['{"a":[1,[{"b":[]}]],"c":[[]]}', 5],
])('%s is %p levels deep', (text, depth) => {
  const walk = new MemberWalk(text)
  while (walk.next());

  expect(walk.depth).toBe(depth)
})

const text = 'one two three'
const bytes = new TextEncoder().encode(text)

test('edits replace, insert and remove', () => {
  const edits = [
    { start: 0, end: 3, text: 'één' },
    { start: 4, end: 4, text: '½ ' },
    { start: 7, end: 13, text: '' },
  ]

  expect(spliceText(text, edits)).toBe('één ½ two')
  expect(new TextDecoder().decode(splice(bytes, edits))).toBe('één ½ two')
})

test('without edits, the same value is returned', () => {
  expect(spliceText(text, [])).toBe(text)
  expect(splice(bytes, [])).toBe(bytes)
})
