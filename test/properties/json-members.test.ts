import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { MemberWalk, keyOf, spliceText, type Edit, type Member } from '../../src/protocol/json/json-text.ts'
import { jsonMemberText, jsonObjectText } from './json-texts.ts'

const objectText = fc.array(jsonMemberText, { maxLength: 8 }).chain(jsonObjectText)

test('the scanner and JSON.parse agree on every member of any object', () => {
  fc.assert(
    fc.property(objectText, text => {
      const found = membersOf(text)

      const parsed = JSON.parse(text) as Record<string, unknown>
      const last = new Map(found.map(member => [keyOf(text, member), member]))
      expect([...last.keys()].sort()).toEqual(Object.keys(parsed).sort())
      for (const [key, { start, end }] of last) {
        expect(JSON.parse(text.slice(start, end))).toEqual(
          Object.getOwnPropertyDescriptor(parsed, key)?.value,
        )
      }
    }),
    { numRuns: 500 },
  )
})

test('an object split into its members and joined again is the same text', () => {
  fc.assert(
    fc.property(objectText, text => {
      const found = membersOf(text)

      const edits: Edit[] = found.map(({ start, end }) => ({
        start,
        end,
        text: text.slice(start, end),
      }))

      expect(spliceText(text, edits)).toBe(text)
      for (const { keyStart } of found) expect(text[keyStart]).toBe('"')
    }),
    { numRuns: 200 },
  )
})

function membersOf(text: string): Member[] {
  const found: Member[] = []
  for (const walk = new MemberWalk(text); walk.next();) found.push(walk.member())
  return found
}
