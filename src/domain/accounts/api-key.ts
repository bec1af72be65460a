import type { LimitsPatch } from '../limits/limits-row.ts'
import type { KeySecret } from './key-secrets.ts'

export type ApiKey = {
  readonly id: number
  /** `key_…` */
  readonly publicId: string
  readonly accountId: number
  /** `Project.id`; absent for a key without a project. It never changes. */
  readonly projectId?: number
  readonly name: string
  /** The first 12 characters of its current secret, for lists. */
  readonly prefix: string
  /** Oldest first. A key that was never rotated has one. */
  readonly secrets: readonly KeySecret[]
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
}

/** The parts of a key that an operator can change. */
export type KeyPatch = {
  /** Nothing ends a revocation. */
  readonly revoked?: true
  /** What it may use, within the limits of its project and its account. */
  readonly limits?: LimitsPatch
}

/** The audit actions of the switches of a key. */
export type KeyAction = 'key.revoke'

/** When a key was revoked, after a patch, and the action if the patch revokes it. */
export function patchRevocation(
  { revokedAtMs }: Pick<ApiKey, 'revokedAtMs'>,
  { revoked }: KeyPatch,
  atMs: number,
): Pick<ApiKey, 'revokedAtMs'> & { readonly actions: readonly KeyAction[] } {
  if (revoked === undefined || revokedAtMs !== null) return { revokedAtMs, actions: [] }
  return { revokedAtMs: atMs, actions: ['key.revoke'] }
}
