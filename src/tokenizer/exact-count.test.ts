import { describe, expect, test } from 'bun:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { exactCount } from './exact-count.ts'

describe('an exact count', () => {
  test.each([
    ['', 0],
    ['Hello, world!', 4],
    ['<|endoftext|>', 7],
    ['🙂', 1],
    ['\ud83d', 1],
  ])('of %j is %d', (text, tokens) => {
    expect(exactCount([text])).toBe(tokens)
  })

  test('of several texts is their sum', () => {
    expect(exactCount(['Hello, world!', '', 'Hello, world!'])).toBe(8)
  })

  test('of a long text is the count of the whole text', () => {
    const text = 'The quick brown fox jumps over the lazy dog, and nobody minds. '.repeat(200)

    expect(exactCount([text])).toBe(countTokens(text))
  })

  test('of a text without spaces is near the count of the whole text', () => {
    const text = '我们今天去北京的路上看到了很多有趣的东西，然后回家吃饭🙂。'.repeat(100)
    const whole = countTokens(text)

    expect(Math.abs(exactCount([text]) - whole)).toBeLessThan(whole * 0.01)
  })

  test('of one very long word takes linear time', () => {
    const letters = Array.from({ length: 60_000 }, (_, at) =>
      String.fromCharCode(97 + ((at * at * 7 + at) % 26)),
    )
    const startedAtMs = performance.now()

    exactCount([letters.join('')])

    // As one piece it took three seconds.
    expect(performance.now() - startedAtMs).toBeLessThan(1000)
  })
})
