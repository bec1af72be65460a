import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CanonicalBytes, type SqlValue } from './canonical.ts'

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const value: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.constant(null),
  int64,
  fc.maxSafeInteger(),
  fc.string({ unit: 'binary' }),
  fc.uint8Array(),
)

function encoded(values: readonly SqlValue[]): string {
  const bytes = new CanonicalBytes()
  bytes.addAll(values)
  return Buffer.from(bytes.bytes).toString('hex')
}

describe('the canonical form', () => {
  test.each<[SqlValue, string]>([
    [null, '00'],
    [0, '010000000000000000'],
    [1n, '010000000000000001'],
    [-1, '01ffffffffffffffff'],
    [-(2n ** 63n), '018000000000000000'],
    [Number.MAX_SAFE_INTEGER, '01001fffffffffffff'],
    ['', '0200000000'],
    ['é', '0200000002c3a9'],
    ['naïve', '02000000066e61c3af7665'],
    [new Uint8Array([1, 255]), '030000000201ff'],
  ])('the canonical form of %p is %s', (one, bytes) => {
    expect(encoded([one])).toBe(bytes)
  })

  test('the canonical form is the same for a number and a bigint', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), number => {
        expect(encoded([number])).toBe(encoded([BigInt(number)]))
      }),
    )
  })

  test('the canonical form is different for different values', () => {
    const distinct = (one: SqlValue) => {
      if (one instanceof Uint8Array) return { blob: [...one] }
      return typeof one === 'string' || one === null ? one : { int: String(one) }
    }
    const alike = (values: readonly SqlValue[]) => JSON.stringify(values.map(distinct))
    fc.assert(
      fc.property(fc.array(value), fc.array(value), (left, right) => {
        // A lone surrogate has no UTF-8, so it is not a text that a database can hold.
        fc.pre([...left, ...right].every(one => typeof one !== 'string' || one.isWellFormed()))

        expect(encoded(left) === encoded(right)).toBe(alike(left) === alike(right))
      }),
    )
  })

  test('the canonical form of a number that is not an exact integer is refused', () => {
    expect(() => encoded([0.5])).toThrow(RangeError)
    expect(() => encoded([2 ** 53])).toThrow(RangeError)
  })

  test('the canonical form of values larger than the buffer is complete', () => {
    const text = 'x'.repeat(10_000)

    expect(encoded([text, 1, text])).toBe(encoded([text]) + encoded([1]) + encoded([text]))
  })
})
