import { describe, expect, test } from 'bun:test'
import { nanoUsd, usd, ZERO } from '../money.ts'
import { canHold, capturing, following, placing, releasing, type HoldTerms } from './hold.ts'

const text: HoldTerms = { kind: 'text', amount: usd('2'), isVolatile: false }
const media: HoldTerms = { kind: 'media', amount: usd('2'), isVolatile: false }
const remembered: HoldTerms = { kind: 'text', amount: usd('2'), isVolatile: true }

describe('hold', () => {
  test.each([
    ['all that is free', usd('1'), usd('1'), true],
    ['a nano-dollar more', usd('1'), nanoUsd(usd('1') + 1n), false],
    ['nothing, of nothing', ZERO, ZERO, true],
    ['nothing, of less than nothing', usd('-1'), ZERO, true],
  ])('%s: %p free, %p held, %p', (_, free, amount, expected) => {
    expect(canHold(free, amount)).toBe(expected)
  })

  test('of a negative amount is refused', () => {
    expect(() => canHold(usd('1'), usd('-1'))).toThrow(RangeError)
  })

  test('ends once: nothing follows a final state', () => {
    expect(following).toEqual({ open: ['captured', 'released'], captured: [], released: [] })
  })
})

describe('a durable hold', () => {
  test('moves its money to the held book of its kind, and back', () => {
    expect(placing(media)).toEqual([{ from: 'available', to: 'held.media', amount: usd('2') }])
    expect(releasing(media)).toEqual([{ from: 'held.media', to: 'available', amount: usd('2') }])
  })

  test('pays its cost out of what is held, and frees the rest', () => {
    const { movements, shortfall } = capturing(media, usd('0.5'))

    expect(shortfall).toBe(ZERO)
    expect(movements).toEqual([
      { from: 'held.media', to: 'revenue.media', amount: usd('0.5') },
      { from: 'held.media', to: 'available', amount: usd('1.5') },
      { from: 'available', to: 'revenue.media', amount: ZERO },
    ])
  })

  test('pays a text cost above it out of what is available', () => {
    const { movements, shortfall } = capturing(text, usd('3'))

    expect(shortfall).toBe(usd('1'))
    expect(movements).toEqual([
      { from: 'held.text', to: 'revenue.text', amount: usd('2') },
      { from: 'held.text', to: 'available', amount: ZERO },
      { from: 'available', to: 'revenue.text', amount: usd('1') },
    ])
  })

  test('refuses a media cost above it', () => {
    expect(() => capturing(media, usd('2.000000001'))).toThrow(RangeError)
  })
})

describe('a volatile hold', () => {
  test('moves nothing until it is captured, and then only its cost', () => {
    const { movements, shortfall } = capturing(remembered, usd('0.5'))

    expect(placing(remembered)).toEqual([])
    expect(releasing(remembered)).toEqual([])
    expect(shortfall).toBe(ZERO)
    expect(movements).toEqual([{ from: 'available', to: 'revenue.text', amount: usd('0.5') }])
  })

  test('tells by how much its cost exceeds it', () => {
    expect(capturing(remembered, usd('3')).shortfall).toBe(usd('1'))
  })
})

test.each([
  ['durable text', text],
  ['durable media', media],
  ['volatile text', remembered],
])('a negative cost of a %s hold is refused', (_, terms) => {
  expect(() => capturing(terms, usd('-1'))).toThrow(RangeError)
})
