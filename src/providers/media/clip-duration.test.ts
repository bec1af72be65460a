import { expect, test } from 'bun:test'
import { millisecondsOf } from './clip-duration.ts'

test.each([
  [5, 5000],
  ['5', 5000],
  [5.0404, 5040],
  ['5.041', 5041],
  [0, undefined],
  [-5, undefined],
  ['-5', undefined],
  ['', undefined],
  ['1e3', undefined],
  ['five', undefined],
  [1e300, undefined],
  [NaN, undefined],
  [null, undefined],
  [undefined, undefined],
  [true, undefined],
])('%j seconds are %j milliseconds', (seconds, milliseconds) => {
  expect(millisecondsOf(seconds)).toBe(milliseconds as number)
})
