import {
  FULL_RIGHTS,
  type AdminRights,
  type AdminToken,
  type GrantAllowance,
} from '../../domain/admin/admin-token.ts'
import type { Audit } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'

/** Who makes a change: the holder of the admin key or of an admin token, or the gateway itself at its start. */
export type Actor = 'admin' | 'startup' | `token:${string}`

/** A caller of the admin API. */
export type AdminCaller = {
  readonly actor: Actor
  readonly rights: AdminRights
  /** What its grants are counted against. Undefined if it may give any amount, or none. */
  readonly allowance?: GrantAllowance
}

/** Whoever has the admin key, or the data folder. */
export const THE_ADMIN: AdminCaller = { actor: 'admin', rights: FULL_RIGHTS }

/** The holder of a token. The audit log names it as `token:bookkeeper (tok_…)`. */
export function callerOf(token: AdminToken): AdminCaller {
  const { id, name, publicId, scopes, grantsPerDay, expiresAtMs } = token
  return {
    actor: `token:${name} (${publicId})`,
    rights: { scopes, grantsPerDay, expiresAtMs },
    ...(grantsPerDay === null ? {} : { allowance: { tokenId: id, perDay: grantsPerDay } }),
  }
}

/** The audit line of a change at the current time. */
export function auditOf(
  change: { readonly actor: Actor } & Pick<Audit, 'action' | 'subject' | 'detail'>,
  clock: Clock,
): Audit {
  return { ...change, atMs: clock.now() }
}
