import { expect, test } from 'bun:test'
import { splice, spliceText } from './splice.ts'

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
