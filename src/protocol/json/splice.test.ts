import { expect, test } from 'bun:test'
import { splice, spliceText } from './splice.ts'

const text = 'one two three'
const bytes = new TextEncoder().encode(text)

test('replaces, inserts and removes in one go', () => {
  const edits = [
    { start: 0, end: 3, text: 'één' },
    { start: 4, end: 4, text: '½ ' },
    { start: 7, end: 13, text: '' },
  ]

  expect(spliceText(text, edits)).toBe('één ½ two')
  expect(new TextDecoder().decode(splice(bytes, edits))).toBe('één ½ two')
})

test('without edits the very same comes back', () => {
  expect(spliceText(text, [])).toBe(text)
  expect(splice(bytes, [])).toBe(bytes)
})
