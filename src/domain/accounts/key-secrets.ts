import { GatewayError } from '../errors.ts'

/** A secret that works longer beside the new one would be forgotten. */
export const OLD_SECRET_MS_MAX = 30 * 24 * 3_600_000

/**
 * A secret of a key: the SHA-256 of a text with which clients use the key. A rotation adds one, and the one before it
 * ends later. Limits, spend, replays and jobs belong to the key, so a rotation resets nothing.
 */
export type KeySecret = {
  /** 0 for the first secret of a key. Later ones have higher numbers. */
  readonly number: number
  /** The first 12 characters of its text. The secrets of a key begin differently. */
  readonly prefix: string
  readonly createdAtMs: number
  /** Null for the current secret. A key has exactly one. */
  readonly end: SecretEnd | null
}

export type SecretEnd = {
  readonly atMs: number
  /** True if the step that set it came at this time or later. The secret then stays ended if the clock is set back. */
  readonly isFinal: boolean
}

/** A step that sets the end of a secret; null takes the end back. */
export type NewEnd = { readonly number: number; readonly endsAtMs: number | null }

/** The secrets of a key that is not revoked can be changed. */
type RotatedKey = {
  readonly publicId: string
  readonly revokedAtMs: number | null
  /** Oldest first. */
  readonly secrets: readonly KeySecret[]
}

export function hasEnded(end: SecretEnd | null | undefined, nowMs: number): boolean {
  return end !== null && end !== undefined && (end.isFinal || end.atMs <= nowMs)
}

/** The secret without an end, which lists show. In damaged books, it is the newest one. */
export function currentSecret(secrets: readonly KeySecret[]): KeySecret {
  const current = secrets.find(({ end }) => end === null) ?? secrets.at(-1)
  if (current === undefined) throw new Error('A key has no secret.')
  return current
}

/**
 * The end of the current secret if another one replaces it now, and the ends of earlier ones, which become final. An
 * instant that is not after now ends it at once. Throws `key_revoked`, and `rotation_running` while the secret before
 * it still works: a key has at most two.
 */
export function rotateSecret(
  { publicId, revokedAtMs, secrets }: RotatedKey,
  { oldEndsAtMs, nowMs }: { readonly oldEndsAtMs: number; readonly nowMs: number },
): readonly NewEnd[] {
  refuseRevoked(publicId, revokedAtMs)
  const current = currentSecret(secrets)
  const ending = endingSecret(secrets, nowMs)
  if (ending !== undefined)
    throw new GatewayError(
      'rotation_running',
      `${publicId} has two secrets until ${instant(ending.end.atMs)}: ${current.prefix}… and, before it, ${ending.prefix}…. Revoke one of the two before you rotate the key again, or wait.`,
    )
  const passed = secrets.flatMap(({ number, end }) =>
    end === null || end.isFinal ? [] : [{ number, endsAtMs: end.atMs }],
  )
  return [...passed, { number: current.number, endsAtMs: Math.max(oldEndsAtMs, nowMs) }]
}

/**
 * What ends the secret with these first characters at once; nothing if it has ended. Ending the current one while the
 * one before it still works takes the rotation back: the other has no end any more. Throws `key_revoked`, `not_found`
 * for characters of no secret, and `last_secret` for the only one that works.
 */
export function revokeSecret(
  { publicId, revokedAtMs, secrets }: RotatedKey,
  prefix: string,
  nowMs: number,
): readonly NewEnd[] {
  refuseRevoked(publicId, revokedAtMs)
  const secret = secrets.find(one => one.prefix === prefix)
  if (secret === undefined)
    throw new GatewayError(
      'not_found',
      `${publicId} has no secret with these first characters. Its secrets are ${namesOf(secrets)}.`,
    )
  if (hasEnded(secret.end, nowMs)) return []
  const ended = { number: secret.number, endsAtMs: nowMs }
  if (secret.end !== null) return [ended]
  const ending = endingSecret(secrets, nowMs)
  if (ending === undefined)
    throw new GatewayError(
      'last_secret',
      `${prefix}… is the only secret of ${publicId} that works. Rotate the key, or revoke the key.`,
    )
  return [ended, { number: ending.number, endsAtMs: null }]
}

/** The detail of the audit line of a rotation, as JSON. */
export function rotationDetail(of: {
  readonly prefix: string
  readonly oldPrefix: string
  readonly oldEndsAtMs: number
}): string {
  return JSON.stringify({ secret: of.prefix, old: of.oldPrefix, old_ends_at: instant(of.oldEndsAtMs) })
}

/** The secret before the current one, if it still works. */
function endingSecret(secrets: readonly KeySecret[], nowMs: number) {
  for (const { end, ...secret } of secrets)
    if (end !== null && !hasEnded(end, nowMs)) return { ...secret, end }
  return undefined
}

function refuseRevoked(publicId: string, revokedAtMs: number | null): void {
  if (revokedAtMs === null) return
  throw new GatewayError(
    'key_revoked',
    `${publicId} was revoked at ${instant(revokedAtMs)}. Create another key.`,
  )
}

function namesOf(secrets: readonly KeySecret[]): string {
  return secrets.map(({ prefix }) => `${prefix}…`).join(', ')
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString()
}
