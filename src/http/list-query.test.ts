import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../domain/errors.ts'
import { readTimeRange } from './list-query.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')

describe('a time range', () => {
  test.each([
    ['from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z', '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'],
    [
      'from=2026-11-01t01:00:00.5%2B01:00&to=2026-11-02T00:00:00z',
      '2026-11-01T00:00:00.5Z',
      '2026-11-02T00:00:00Z',
    ],
    [
      'from=2026-11-01T01:00:00+01:00&to=2026-11-01T00:00:00.001Z',
      '2026-11-01T00:00:00Z',
      '2026-11-01T00:00:00.001Z',
    ],
    ['from=2026-11-22T11:59:59.999Z', '2026-11-22T11:59:59.999Z', '2026-11-22T12:00:00Z'],
    ['from=2026-08-22T12:00:00Z', '2026-08-22T12:00:00Z', '2026-11-22T12:00:00Z'],
  ])('%s is read', (query, from, to) => {
    expect(readTimeRange(new URLSearchParams(query), NOW)).toEqual({
      fromMs: Date.parse(from),
      toMs: Date.parse(to),
    })
  })

  test('a time range is undefined without from and to', () => {
    expect(readTimeRange(new URLSearchParams('limit=3'), NOW)).toBeUndefined()
  })

  test.each([
    ['to=2026-11-02T00:00:00Z', 'from', 'is missing'],
    ['from=2026-11-01', 'from', 'must be a time in RFC 3339'],
    ['from=2026-11-01T00:00:00', 'from', 'must be a time in RFC 3339'],
    ['from=2026-02-30T00:00:00Z', 'from', 'must be a time in RFC 3339'],
    ['from=2026-11-01T24:00:00Z', 'from', 'must be a time in RFC 3339'],
    ['from=1793491200', 'from', 'must be a time in RFC 3339'],
    ['from=', 'from', 'must be a time in RFC 3339'],
    ['from=2026-11-01T00:00:00Z&to=tomorrow', 'to', 'must be a time in RFC 3339'],
    ['from=2026-11-01T00:00:00Z&to=2026-11-01T00:00:00Z', 'from', 'must be before "to"'],
    ['from=2026-12-01T00:00:00Z', 'from', 'must be before now, because there is no "to"'],
    ['from=2026-08-22T11:59:59.999Z', 'from', 'must be at most 92 days before now'],
  ])('%s is refused, and %s is named', (query, param, problem) => {
    const read = () => readTimeRange(new URLSearchParams(query), NOW)

    expect(read).toThrow(GatewayError)
    expect(read).toThrow(`"${param}" ${problem}`)
  })
})
