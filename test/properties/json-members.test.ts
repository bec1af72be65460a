import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { keyOf, members } from '../../src/protocol/json/members.ts'
import { splice, type Edit } from '../../src/protocol/json/splice.ts'
import { jsonMemberText, jsonObjectText } from './json-texts.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const objectText = fc.array(jsonMemberText, { maxLength: 8 }).chain(jsonObjectText)

test('the scanner and JSON.parse agree on every member of any object', () => {
  fc.assert(
    fc.property(objectText, text => {
      const bytes = encoder.encode(text)

      const found = members(bytes)

      const parsed = JSON.parse(text) as Record<string, unknown>
      const last = new Map(found.map(member => [keyOf(bytes, member), member]))
      expect([...last.keys()].sort()).toEqual(Object.keys(parsed).sort())
      for (const [key, { start, end }] of last) {
        expect(JSON.parse(decoder.decode(bytes.subarray(start, end)))).toEqual(
          Object.getOwnPropertyDescriptor(parsed, key)?.value,
        )
      }
    }),
    { numRuns: 500 },
  )
})

test('an object taken apart member by member and put together again has the same bytes', () => {
  fc.assert(
    fc.property(objectText, text => {
      const bytes = encoder.encode(text)
      const found = members(bytes)

      const edits: Edit[] = found.map(({ start, end }) => ({
        start,
        end,
        text: decoder.decode(bytes.subarray(start, end)),
      }))

      expect(decoder.decode(splice(bytes, edits))).toBe(text)
      for (const { keyStart } of found) expect(bytes[keyStart]).toBe(0x22)
    }),
    { numRuns: 200 },
  )
})
