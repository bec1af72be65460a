import { expect, test } from 'bun:test'
import { currentSecret, hasEnded, revokeSecret, rotateSecret, type KeySecret } from './key-secrets.ts'

const NOW = Date.parse('2026-11-21T00:00:00Z')
const HOUR_MS = 3_600_000

const aSecret = (number: number, end: KeySecret['end'] = null): KeySecret => ({
  number,
  prefix: `tg_live_${String(number).padStart(4, '0')}`,
  createdAtMs: 0,
  end,
})
const endsIn = (ms: number, isFinal = false) => ({ atMs: NOW + ms, isFinal })
const aKey = (...secrets: readonly KeySecret[]) => ({ publicId: 'key_1', revokedAtMs: null, secrets })
const rotate = (key: Parameters<typeof rotateSecret>[0], oldEndsAtMs: number) =>
  rotateSecret(key, { oldEndsAtMs, nowMs: NOW })
const revoke = (key: Parameters<typeof revokeSecret>[0], prefix: string) => revokeSecret(key, prefix, NOW)

test('a rotation ends the current secret at the given time', () => {
  expect(rotate(aKey(aSecret(0)), NOW + HOUR_MS)).toEqual([{ number: 0, endsAtMs: NOW + HOUR_MS }])
})

test('a rotation to a time that has passed ends the current secret now', () => {
  expect(rotate(aKey(aSecret(0)), NOW - 1)).toEqual([{ number: 0, endsAtMs: NOW }])
})

test('a rotation makes the end of an earlier secret final, so that a clock that is set back gives a key no third one', () => {
  const key = aKey(aSecret(0, endsIn(-9, true)), aSecret(1, endsIn(-5)), aSecret(2))

  expect(rotate(key, NOW + HOUR_MS)).toEqual([
    { number: 1, endsAtMs: NOW - 5 },
    { number: 2, endsAtMs: NOW + HOUR_MS },
  ])
})

test('a key with two secrets that work is not rotated, and the refusal names both', () => {
  const key = aKey(aSecret(0, endsIn(HOUR_MS)), aSecret(1))

  expect(() => rotate(key, NOW)).toThrow(
    'key_1 has two secrets until 2026-11-21T01:00:00.000Z: tg_live_0001… and, before it, tg_live_0000…. Revoke one of the two before you rotate the key again, or wait.',
  )
})

test('a revoked key is neither rotated nor are its secrets revoked', () => {
  const key = { ...aKey(aSecret(0)), revokedAtMs: NOW }

  expect(() => rotate(key, NOW)).toThrow('key_1 was revoked at 2026-11-21T00:00:00.000Z.')
  expect(() => revoke(key, 'tg_live_0000')).toThrow('key_1 was revoked at 2026-11-21T00:00:00.000Z.')
})

test('revoking the old secret ends it now', () => {
  const key = aKey(aSecret(0, endsIn(HOUR_MS)), aSecret(1))

  expect(revoke(key, 'tg_live_0000')).toEqual([{ number: 0, endsAtMs: NOW }])
})

test('revoking the new secret takes the rotation back: the old one has no end any more', () => {
  const key = aKey(aSecret(0, endsIn(HOUR_MS)), aSecret(1))

  expect(revoke(key, 'tg_live_0001')).toEqual([
    { number: 1, endsAtMs: NOW },
    { number: 0, endsAtMs: null },
  ])
})

test('revoking a secret that has ended changes nothing', () => {
  const key = aKey(aSecret(0, endsIn(0)), aSecret(1))

  expect(revoke(key, 'tg_live_0000')).toEqual([])
})

test('the only secret that works is not revoked', () => {
  const key = aKey(aSecret(0, endsIn(0)), aSecret(1))

  expect(() => revoke(key, 'tg_live_0001')).toThrow(
    'tg_live_0001… is the only secret of key_1 that works. Rotate the key, or revoke the key.',
  )
})

test('a secret that the key does not have is refused with those that it has', () => {
  const key = aKey(aSecret(0, endsIn(0)), aSecret(1))

  expect(() => revoke(key, 'tg_live_0009')).toThrow(
    'key_1 has no secret with these first characters. Its secrets are tg_live_0000…, tg_live_0001….',
  )
})

test('the current secret is the one without an end, and the newest in damaged books', () => {
  expect(currentSecret([aSecret(0, endsIn(0)), aSecret(1), aSecret(2, endsIn(0))]).number).toBe(1)
  expect(currentSecret([aSecret(0, endsIn(0)), aSecret(1, endsIn(0))]).number).toBe(1)
})

test('an end counts from its time on, and a final one always', () => {
  const ends = [null, endsIn(1), endsIn(0), endsIn(1, true)]

  expect(ends.map(end => hasEnded(end, NOW))).toEqual([false, false, true, true])
})
