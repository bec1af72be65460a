import { expect, test } from 'bun:test'
import { LIST_MAX, listOf } from './value-lists.ts'

test.each([
  [['a'], '(?)', ['a']],
  [[1, 2, 3], '(?, ?, ?, ?)', [1, 2, 3, 3]],
  [[1, 2, 3, 4, 5], '(?, ?, ?, ?, ?, ?, ?, ?)', [1, 2, 3, 4, 5, 5, 5, 5]],
])('the list of %j is as long as the next power of two, so that lists have few texts', (of, sql, values) => {
  expect(listOf(of)).toEqual({ sql, values })
})

test('an empty list and a list that is too long are refused', () => {
  expect(() => listOf([])).toThrow(RangeError)
  expect(listOf(Array.from({ length: LIST_MAX }, () => 0)).values).toHaveLength(LIST_MAX)
  expect(() => listOf(Array.from({ length: LIST_MAX + 1 }, () => 0))).toThrow(RangeError)
})
