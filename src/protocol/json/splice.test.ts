import { expect, test } from 'bun:test'
import { splice } from './splice.ts'

const bytes = new TextEncoder().encode('one two three')

test('replaces, inserts and removes in one go', () => {
  const result = splice(bytes, [
    { start: 0, end: 3, text: 'één' },
    { start: 4, end: 4, text: '½ ' },
    { start: 7, end: 13, text: '' },
  ])

  expect(new TextDecoder().decode(result)).toBe('één ½ two')
})

test('without edits the very same bytes come back', () => {
  expect(splice(bytes, [])).toBe(bytes)
})
