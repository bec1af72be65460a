import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJson, type JsonValue } from './json-file.ts'

/** The value that JSON.parse gives. */
function plain(value: JsonValue): unknown {
  switch (value.kind) {
    case 'object':
      return Object.fromEntries(Array.from(value.members, ([name, member]) => [name, plain(member)]))
    case 'list':
      return value.items.map(plain)
    case 'string':
      return value.text
    case 'number':
    case 'word':
      return JSON.parse(value.text)
  }
}

describe('a JSON file', () => {
  test('a JSON file is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
        const value: unknown = JSON.parse(text)
        const written = JSON.stringify(value, null, indent)

        expect(plain(readJson(written))).toEqual(JSON.parse(written))
      }),
    )
  })

  test('a JSON file keeps the digits of numbers, and knows the lines of values', () => {
    const document = readJson('{\n  "a": [\n    0.10000000000000000001,\n    "x\\ny"\n  ], "b": null }')

    expect(document).toMatchObject({
      line: 1,
      members: new Map<string, unknown>([
        [
          'a',
          {
            kind: 'list',
            line: 2,
            items: [
              { kind: 'number', text: '0.10000000000000000001', line: 3 },
              { kind: 'string', text: 'x\ny', line: 4 },
            ],
          },
        ],
        ['b', { kind: 'word', text: 'null', line: 5 }],
      ]),
    })
  })

  test.each(['{', '[1,]', "{'a': 1}", '{"a": 01}'])('a JSON file that is not valid is refused: %s', text => {
    expect(() => readJson(text)).toThrow('is not valid JSON')
  })
})
