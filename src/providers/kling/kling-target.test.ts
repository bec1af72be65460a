import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { CLOCK_SKEW_S, TOKEN_TTL_S, klingTokens, signToken } from './kling-target.ts'

const keys = { accessKey: 'access-1', secretKey: 'secret-1' }
const MINUTE_MS = 60_000

describe('a token', () => {
  test('a token is a JWT of the access key, signed by HMAC-SHA256 with the secret key', () => {
    const [header = '', claims = '', signature] = signToken(keys, 1_800_000_000_500).split('.')

    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: 'access-1',
      exp: 1_800_000_000 + TOKEN_TTL_S,
      nbf: 1_800_000_000 - CLOCK_SKEW_S,
    })
    expect(signature).toBe(createHmac('sha256', 'secret-1').update(`${header}.${claims}`).digest('base64url'))
  })

  test('a token is used until five minutes before its end, and then replaced', () => {
    const clock = fakeClock()
    const tokens = klingTokens(clock)
    const first = tokens.tokenFor(keys)

    clock.advance(25 * MINUTE_MS - 1)
    const before = tokens.tokenFor(keys)
    clock.advance(1)
    const after = tokens.tokenFor(keys)

    expect(before).toBe(first)
    expect(after).not.toBe(first)
    expect(expiryOf(after) - expiryOf(first)).toBe(25 * 60)
  })

  test('a token is replaced in time although the wall clock is set back', () => {
    const clock = fakeClock()
    const tokens = klingTokens(clock)
    const first = tokens.tokenFor(keys)

    clock.setWallClock(clock.now() - 60 * MINUTE_MS)
    clock.advance(25 * MINUTE_MS)

    expect(tokens.tokenFor(keys)).not.toBe(first)
  })

  test('a token is signed anew after it was refused', () => {
    const clock = fakeClock()
    const tokens = klingTokens(clock)
    const first = tokens.tokenFor(keys)
    clock.setWallClock(clock.now() + 60 * MINUTE_MS)

    tokens.forget(keys)

    expect(expiryOf(tokens.tokenFor(keys)) - expiryOf(first)).toBe(3600)
  })

  test('a token is not shared by two keys, nor kept for a secret key that was changed', () => {
    const tokens = klingTokens(fakeClock())

    const made = [
      tokens.tokenFor(keys),
      tokens.tokenFor({ ...keys, accessKey: 'access-2' }),
      tokens.tokenFor({ ...keys, secretKey: 'secret-2' }),
    ]

    expect(new Set(made).size).toBe(3)
  })
})

function expiryOf(token: string): number {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number }
  return claims.exp
}
