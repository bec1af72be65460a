import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../errors.ts'
import { usd, ZERO } from '../money.ts'
import {
  currentDay,
  dayOfGrant,
  excessOver,
  FULL_RIGHTS,
  hasScope,
  tokenProblem,
  type AdminRights,
} from './admin-token.ts'

const DAY_MS = 86_400_000
const NOON = 20_000 * DAY_MS + DAY_MS / 2

describe('the scopes of an admin token', () => {
  test.each([
    [['read'], ['read', 'grants'], true],
    [['grants'], ['read', 'grants'], true],
    [['metrics'], ['read', 'grants'], false],
    [['read'], ['all'], false],
    [['read', 'metrics', 'grants'], ['all'], false],
    [['all'], ['metrics'], true],
    [['all'], ['all'], true],
    [[], ['read'], false],
  ] as const)('of %j, one of %j is enough: %j', (scopes, needed, expected) => {
    expect(hasScope(scopes, needed)).toBe(expected)
  })
})

describe('a token is', () => {
  test.each([
    [
      'accepted until the moment at which it expires',
      { revokedAtMs: null, expiresAtMs: NOON + 1 },
      undefined,
    ],
    ['expired from that moment on', { revokedAtMs: null, expiresAtMs: NOON }, 'expired'],
    ['accepted without an expiry', { revokedAtMs: null, expiresAtMs: null }, undefined],
    ['revoked, even before it expires', { revokedAtMs: NOON - 1, expiresAtMs: NOON + 1 }, 'revoked'],
    ['revoked, even if it has expired too', { revokedAtMs: NOON - 1, expiresAtMs: NOON - 1 }, 'revoked'],
  ] as const)('a token is %s', (_, token, expected) => {
    expect(tokenProblem(token, NOON)).toBe(expected)
  })
})

describe('a token has no more rights than its creator', () => {
  const all: AdminRights = { ...FULL_RIGHTS, expiresAtMs: NOON }
  const grants: AdminRights = { scopes: ['read', 'grants'], grantsPerDay: usd('10'), expiresAtMs: null }

  test.each([
    ['the holder of the admin key gives everything', FULL_RIGHTS, FULL_RIGHTS, undefined],
    ['the holder of the admin key gives any amount', FULL_RIGHTS, grants, undefined],
    ['a token gives its own scopes', grants, { ...grants, scopes: ['grants'] }, undefined],
    ['a token cannot give another scope', grants, { ...grants, scopes: ['metrics'] }, 'scopes'],
    ['a token cannot give all scopes', grants, { ...FULL_RIGHTS }, 'scopes'],
    [
      'a token cannot give a larger amount',
      grants,
      { ...grants, grantsPerDay: usd('10.01') },
      'grantsPerDay',
    ],
    ['a token cannot give rights that never expire', all, FULL_RIGHTS, 'expiresAtMs'],
    ['a token cannot give rights that expire later', all, { ...all, expiresAtMs: NOON + 1 }, 'expiresAtMs'],
    ['a token gives rights that expire with it', all, all, undefined],
  ] satisfies [string, AdminRights, AdminRights, keyof AdminRights | undefined][])(
    '%s',
    (_, creator, asked, expected) => {
      expect(excessOver(creator, asked)).toBe(expected)
    },
  )
})

describe('the grants of a day', () => {
  const perDay = usd('50')

  test.each([
    ['nothing before', undefined, '50', 20_000],
    ['an earlier day that was used up', { day: 19_999, granted: usd('50') }, '50', 20_000],
    ['the rest of the day', { day: 20_000, granted: usd('49.999999999') }, '0.000000001', 20_000],
    ['a later day, after the clock was set back', { day: 20_001, granted: usd('20') }, '30', 20_001],
  ] as const)('a grant fits after %s', (_, latest, amount, day) => {
    expect(dayOfGrant({ of: 'token', perDay }, latest, { amount: usd(amount), atMs: NOON })).toBe(day)
  })

  test.each([
    ['more than the day allows', undefined, '50.000000001', '0'],
    ['more than the rest of the day', { day: 20_000, granted: usd('40') }, '10.000000001', '40'],
    ['more than the rest of a later day', { day: 20_001, granted: usd('40') }, '11', '40'],
  ] as const)('a grant of %s is refused', (_, latest, amount, granted) => {
    expect(refusalOf(latest, amount)).toMatchObject({
      code: 'grants_per_day_exceeded',
      extras: { extensions: { grants_per_day_usd: '50', granted_today_usd: granted } },
    })
  })

  test('a refused grant names the limit, what was granted, what is left and the end of the day in UTC', () => {
    expect(refusalOf({ day: 20_000, granted: usd('40') }, '25')?.message).toBe(
      'This admin token may grant 50 USD a day, of which 40 USD was granted today. A grant of 25 USD does not fit into the rest of 10 USD. The day ends at 2024-10-05T00:00:00.000Z (UTC).',
    )
  })

  test('nothing was granted on a day without grants', () => {
    expect(currentDay({ day: 19_999, granted: usd('40') }, NOON)).toEqual({ day: 20_000, granted: ZERO })
  })

  function refusalOf(latest: Parameters<typeof dayOfGrant>[1], amount: string): GatewayError | undefined {
    try {
      dayOfGrant({ of: 'token', perDay }, latest, { amount: usd(amount), atMs: NOON })
    } catch (error) {
      if (error instanceof GatewayError) return error
    }
    return undefined
  }
})
