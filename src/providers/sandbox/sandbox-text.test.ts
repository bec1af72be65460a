import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { countTokens, tokenize } from './sandbox-text.ts'

test('joined tokens are the text again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(tokenize(text).join('')).toBe(text)
    }),
  )
})

test('a text that is cut after a token has the tokens before the cut', () => {
  fc.assert(
    fc.property(fc.lorem(), fc.nat(), (text, seed) => {
      const pieces = tokenize(text)
      const kept = pieces.slice(0, seed % (pieces.length + 1))

      expect(countTokens(kept.join(''))).toBe(kept.length)
    }),
  )
})

test.each([
  ['', 0],
  ['Hello, world.', 4],
  ['1234', 2],
  ['日本', 1],
  ['😀😀', 2],
  ['  \n', 1],
])('%j has %d tokens', (text, count) => {
  expect(countTokens(text)).toBe(count)
})
