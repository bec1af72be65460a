import { expect, test } from 'bun:test'
import { isUsableId, reasonOf, waitOf } from './answers.ts'

test.each([
  [307, 'operator'],
  [400, 'invalid'],
  [401, 'operator'],
  [402, 'operator'],
  [403, 'operator'],
  [404, 'invalid'],
  [408, 'invalid'],
  [409, 'invalid'],
  [422, 'invalid'],
  [429, 'rate_limited'],
])('a refusal with the status %d is %s', (status, reason) => {
  expect(reasonOf(status)).toBe(reason as never)
})

test.each([
  ['7', true],
  ['a/../b', true],
  ['x'.repeat(4096), true],
  ['', false],
  ['.', false],
  ['..', false],
  ['\ud800', false],
  [7, false],
  [undefined, false],
])('a path can name the id %j: %p', (id, is) => {
  expect(isUsableId(id)).toBe(is)
})

test('the time to wait is a member if an answer asks for one', () => {
  expect([waitOf({ retryAfterS: 7 }), waitOf({})]).toEqual([{ retryAfterS: 7 }, {}])
})
