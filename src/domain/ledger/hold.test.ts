import { describe, expect, test } from 'bun:test'
import { nanoUsd, usd, ZERO } from '../money.ts'
import {
  canHold,
  capturing,
  EXPIRED_TEXT_HOLD,
  fitsAfterAll,
  fitsAfterText,
  holdTransitions,
  HOLD_RENEW_EVERY_MS,
  HOLD_TTL_MS,
  placing,
  releasing,
  type HoldTerms,
} from './hold.ts'

const text: HoldTerms = { kind: 'text', amount: usd('2'), isVolatile: false }
const media: HoldTerms = { kind: 'media', amount: usd('2'), isVolatile: false }
const volatile: HoldTerms = { kind: 'text', amount: usd('2'), isVolatile: true }

describe('hold', () => {
  test.each([
    ['the whole free amount', usd('1'), usd('1'), true],
    ['one nano-dollar more', usd('1'), nanoUsd(usd('1') + 1n), false],
    ['zero of zero', ZERO, ZERO, true],
    ['zero of a negative amount', usd('-1'), ZERO, true],
  ])('the outcome of a hold is as the table says: %s: %p free, %p held, %p', (_, free, amount, expected) => {
    expect(canHold(free, amount)).toBe(expected)
  })

  test('a hold of a negative amount is refused', () => {
    expect(() => canHold(usd('1'), usd('-1'))).toThrow(RangeError)
  })

  test('a hold ends once, except that text can be captured after it expired', () => {
    expect(holdTransitions).toEqual({
      open: ['captured', 'released', 'expired'],
      captured: [],
      released: [],
      expired: ['captured'],
    })
  })

  test('a hold is renewed several times before it expires', () => {
    expect(HOLD_TTL_MS / HOLD_RENEW_EVERY_MS).toBeGreaterThanOrEqual(3)
  })
})

describe('a text request that does not fit', () => {
  /** 1 USD is free, text requests hold 2 USD and jobs 3 USD. */
  const shortage = { available: usd('1'), held: usd('5'), heldText: usd('2') }

  test.each([
    ['that running text requests hold', usd('3'), true, true],
    ['that jobs hold in part', nanoUsd(usd('3') + 1n), true, false],
    ['that everything that runs holds', usd('6'), true, false],
    ['that is not there', nanoUsd(usd('6') + 1n), false, false],
  ])(
    'a text request that needs money %s waits and may retry as the table says',
    (_, amount, waits, retries) => {
      expect([fitsAfterAll(shortage, amount), fitsAfterText(shortage, amount)]).toEqual([waits, retries])
    },
  )
})

describe('a durable hold', () => {
  test('a durable hold moves its money to the held book of its kind, and back', () => {
    expect(placing(media)).toEqual([{ from: 'available', to: 'held.media', amount: usd('2') }])
    expect(releasing(media)).toEqual([{ from: 'held.media', to: 'available', amount: usd('2') }])
  })

  test('a durable hold pays its cost from the held money, and frees the rest', () => {
    const { movements, shortfall } = capturing(media, usd('0.5'))

    expect(shortfall).toBe(ZERO)
    expect(movements).toEqual([
      { from: 'held.media', to: 'revenue.media', amount: usd('0.5') },
      { from: 'held.media', to: 'available', amount: usd('1.5') },
      { from: 'available', to: 'revenue.media', amount: ZERO },
    ])
  })

  test('a durable hold pays a text cost above it from the available money', () => {
    const { movements, shortfall } = capturing(text, usd('3'))

    expect(shortfall).toBe(usd('1'))
    expect(movements).toEqual([
      { from: 'held.text', to: 'revenue.text', amount: usd('2') },
      { from: 'held.text', to: 'available', amount: ZERO },
      { from: 'available', to: 'revenue.text', amount: usd('1') },
    ])
  })

  test('a durable hold refuses a media cost above it', () => {
    expect(() => capturing(media, usd('2.000000001'))).toThrow(RangeError)
  })
})

describe('a volatile hold', () => {
  test('a volatile hold moves nothing until it is captured, and then only its cost', () => {
    const { movements, shortfall } = capturing(volatile, usd('0.5'))

    expect(placing(volatile)).toEqual([])
    expect(releasing(volatile)).toEqual([])
    expect(shortfall).toBe(ZERO)
    expect(movements).toEqual([{ from: 'available', to: 'revenue.text', amount: usd('0.5') }])
  })

  test('a volatile hold has a shortfall if its cost exceeds it', () => {
    expect(capturing(volatile, usd('3')).shortfall).toBe(usd('1'))
  })
})

test('the whole cost of text is shortfall after its hold expired', () => {
  expect(capturing(EXPIRED_TEXT_HOLD, usd('3'))).toEqual({
    movements: [{ from: 'available', to: 'revenue.text', amount: usd('3') }],
    shortfall: usd('3'),
  })
})

test.each([
  ['durable text', text],
  ['durable media', media],
  ['volatile text', volatile],
])('a negative cost of a %s hold is refused', (_, terms) => {
  expect(() => capturing(terms, usd('-1'))).toThrow(RangeError)
})
