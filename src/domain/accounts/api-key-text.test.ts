import { expect, test } from 'bun:test'
import {
  adminTokenPrefix,
  adminTokenText,
  apiKeyPrefix,
  apiKeyText,
  isAdminTokenText,
  withoutKeyTexts,
} from './api-key-text.ts'

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

test('an admin token has the prefix of admin tokens and the digits of a key, and is listed by its first 13 characters', () => {
  const random = new Uint8Array(32).fill(255)
  const text = adminTokenText(random)

  expect(text).toBe(apiKeyText(random).replace('tg_live_', 'tg_admin_'))
  expect(adminTokenPrefix(text)).toBe('tg_admin_yhjs')
  expect(isAdminTokenText(text)).toBe(true)
})

test.each([
  ['an admin key of a first start', 'tg_admin_Zx3-_x8v0lq1Zx3-_x8v0lq1Zx3-_x8v'],
  ['a token with a digit too many', `tg_admin_${'0'.repeat(44)}`],
  ['a token with a digit too few', `tg_admin_${'0'.repeat(42)}`],
  ['a key of a customer', `tg_live_${'0'.repeat(43)}`],
])('%s does not have the form of an admin token', (_, text) => {
  expect(isAdminTokenText(text)).toBe(false)
})

test('a message keeps only the first 13 characters of an admin token', () => {
  const token = adminTokenText(new Uint8Array(32).fill(255))

  expect(withoutKeyTexts(`There is no token "${token}".`)).toBe('There is no token "tg_admin_yhjs…".')
})
