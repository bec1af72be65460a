import { expect, test } from 'bun:test'
import { apiKeyPrefix, apiKeyText, withoutKeyTexts } from './api-key-text.ts'

test.each([
  ['zero', new Uint8Array(32), `tg_live_${'0'.repeat(43)}`],
  [
    'one',
    Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? 1 : 0)),
    `tg_live_${'0'.repeat(42)}1`,
  ],
  ['the largest', new Uint8Array(32).fill(255), 'tg_live_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1'],
])('the number %s has 43 digits', (_, random, expected) => {
  const text = apiKeyText(random)

  expect(text).toHaveLength(51)
  expect(text).toBe(expected)
})

test('a key is listed by its first 12 characters', () => {
  const prefix = apiKeyPrefix('tg_live_abcdefgh')

  expect(prefix).toBe('tg_live_abcd')
})

test('a key cannot be made from fewer random bytes', () => {
  expect(() => apiKeyText(new Uint8Array(31))).toThrow(RangeError)
})

test('a message keeps only the first 12 characters of a key', () => {
  const key = apiKeyText(new Uint8Array(32).fill(255))

  expect(withoutKeyTexts(`There is no account "${key}", nor ${key}.`)).toBe(
    'There is no account "tg_live_yhjs…", nor tg_live_yhjs….',
  )
  expect(withoutKeyTexts('Keys begin with tg_live_, such as tg_live_yhjs.')).toBe(
    'Keys begin with tg_live_, such as tg_live_yhjs.',
  )
})
