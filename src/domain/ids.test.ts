import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatId, idNumber, idSource, parseId } from './ids.ts'

const anId = fc.record({
  key: fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }),
  tail: fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }),
})

describe('ids', () => {
  test('the public form reads back as the same id', () => {
    fc.assert(fc.property(anId, id => expect(parseId('req', formatId('req', id))).toEqual(id)))
  })

  test('the number of an id is different for every id, and grows with its key', () => {
    fc.assert(
      fc.property(anId, anId, (left, right) => {
        const isSame = left.key === right.key && left.tail === right.tail

        expect(idNumber(left) === idNumber(right)).toBe(isSame)
        if (left.key < right.key) expect(idNumber(left)).toBeLessThan(idNumber(right))
      }),
    )
    expect(idNumber({ key: 1n, tail: -1n })).toBe((1n << 65n) - 1n)
  })

  test('public forms sort like their ids', () => {
    fc.assert(
      fc.property(anId, anId, (left, right) => {
        fc.pre(left.key !== right.key)

        expect(formatId('req', left) < formatId('req', right)).toBe(left.key < right.key)
      }),
    )
  })

  test.each([
    'req_',
    'acct_01jd0000000000000000000000',
    'req_01jd',
    'req_zzzzzzzzzzzzzzzzzzzzzzzzzz',
    'req_01jd00000000000000000000u0',
  ])('%p is not a request id', text => {
    expect(parseId('req', text)).toBeUndefined()
  })

  test('keys grow although the clock steps back or the process restarts', () => {
    const times = [2000, 2000, 1000, 3000]
    const next = idSource({
      clock: { now: () => times.shift()! },
      random64: () => 7n,
      after: (1500n << 16n) + 5n,
    })

    const keys = [next(), next(), next(), next()].map(id => id.key)

    expect(keys).toEqual([2000n << 16n, (2000n << 16n) + 1n, (2000n << 16n) + 2n, 3000n << 16n])
  })
})
