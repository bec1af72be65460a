import { describe, expect, test } from 'bun:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { exactCount, PIECE_CHARS, pieces } from './exact-count.ts'

describe('an exact count', () => {
  test.each([
    ['', 0],
    ['Hello, world!', 4],
    ['<|endoftext|>', 7],
    ['🙂', 1],
    ['\ud83d', 1],
  ])('an exact count of %j is %d', (text, tokens) => {
    expect(exactCount([text])).toBe(tokens)
  })

  test('an exact count of several texts is their sum', () => {
    expect(exactCount(['Hello, world!', '', 'Hello, world!'])).toBe(8)
  })

  test('an exact count of a long text is the count of the whole text', () => {
    const text = 'The quick brown fox jumps over the lazy dog, and nobody minds. '.repeat(200)

    expect(exactCount([text])).toBe(countTokens(text))
  })

  test('an exact count of a text without spaces is near the count of the whole text', () => {
    const text = '我们今天去北京的路上看到了很多有趣的东西，然后回家吃饭🙂。'.repeat(100)
    const whole = countTokens(text)

    expect(Math.abs(exactCount([text]) - whole)).toBeLessThan(whole * 0.01)
  })

  test.each([
    ['one very long word', 'abcdefghijklmnopqrstuvwxyz'.repeat(2_400)],
    ['emoji', '🙂'.repeat(2_000)],
    ['words', 'The quick brown fox jumps over the lazy dog. '.repeat(200)],
    ['short text', 'abc'],
  ])(
    'an exact count of %s takes linear time, because it is counted in pieces of bounded length',
    (_, text) => {
      const found = [...pieces(text)]

      expect(found.join('')).toBe(text)
      // One more where the second half of a character would be cut off.
      expect(Math.max(...found.map(piece => piece.length))).toBeLessThanOrEqual(PIECE_CHARS + 1)
      expect(found.length).toBeLessThanOrEqual(Math.ceil(text.length / (PIECE_CHARS / 2)))
      expect(exactCount([text])).toBe(found.reduce((sum, piece) => sum + exactCount([piece]), 0))
    },
  )
})
