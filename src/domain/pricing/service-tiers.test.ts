import { describe, expect, test } from 'bun:test'
import { chargedTier, dearestTier, tierFactor } from './service-tiers.ts'

const serviceTiers = { flex: 500_000_000n, priority: 2_000_000_000n, scale: 1_500_000_000n }

test('a tier has its factor, and an unknown one and none have a factor of one', () => {
  const factors = ['priority', 'flex', 'default', 'toString', undefined].map(tier =>
    tierFactor({ serviceTiers }, tier),
  )

  expect(factors).toEqual([2_000_000_000n, 500_000_000n, 1_000_000_000n, 1_000_000_000n, 1_000_000_000n])
  expect(tierFactor({}, 'priority')).toBe(1_000_000_000n)
})

describe('the dearest tier of a request', () => {
  const any = () => true
  test.each<[string | undefined, (tier: string) => boolean, string | undefined]>([
    [undefined, any, 'priority'],
    ['auto', any, 'priority'],
    ['fast', any, 'priority'],
    [undefined, tier => tier !== 'priority', 'scale'],
    [undefined, () => false, undefined],
    ['auto', tier => tier === 'flex', undefined],
    ['priority', any, 'priority'],
    ['scale', any, 'scale'],
    ['flex', any, undefined],
    ['default', any, undefined],
    ['standard_only', any, undefined],
  ])('the dearest tier of a request that asks for %p', (asked, isPermitted, dearest) => {
    expect(dearestTier({ serviceTiers }, asked, isPermitted)).toBe(dearest)
  })
})

describe('an answer in the tier', () => {
  test.each<[string | undefined, string | undefined, string | undefined]>([
    ['priority', 'priority', 'priority'],
    ['priority', 'scale', 'scale'],
    ['priority', undefined, undefined],
    ['flex', undefined, 'flex'],
    ['flex', 'priority', 'flex'],
    ['unknown', undefined, 'unknown'],
    [undefined, 'priority', undefined],
  ])('%p to a request of at most %p is charged as %p', (reported, dearest, charged) => {
    expect(chargedTier(reported, { serviceTiers, dearest })).toBe(charged)
  })
})
