import { expect, test } from 'bun:test'
import { readRange, type AskedRange } from './byte-range.ts'

/** As `first-end`, with the end exclusive, or as its kind. */
function shown(range: AskedRange): string {
  return range.kind === 'part' ? `${range.start}-${range.end}` : range.kind
}

test.each([
  [null, 'whole'],
  ['bytes=0-0', '0-1'],
  ['bytes=0-99', '0-100'],
  ['bytes=10-19', '10-20'],
  ['bytes=90-', '90-100'],
  ['bytes=0-', '0-100'],
  ['bytes=-1', '99-100'],
  ['bytes=-100', '0-100'],
  ['bytes=-5000', '0-100'],
  ['bytes=50-5000', '50-100'],
  ['BYTES= 1-2 ', '1-3'],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=99999999999999999999-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  // A server may ignore these (RFC 9110, section 14.2).
  ['bytes=0-1,5-6', 'whole'],
  ['bytes=5-4', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=+1-2', 'whole'],
  ['bytes=1.0-2', 'whole'],
  ['items=0-1', 'whole'],
  ['', 'whole'],
])('of a file of 100 bytes, the range %p is %s', (header, range) => {
  expect(shown(readRange(header, 100))).toBe(range)
})

test.each([
  ['bytes=0-', 'unsatisfiable'],
  ['bytes=-1', 'unsatisfiable'],
  [null, 'whole'],
])('of an empty file, the range %p is %s', (header, range) => {
  expect(shown(readRange(header, 0))).toBe(range)
})
