import {
  FULL_RIGHTS,
  type AdminRights,
  type AdminToken,
  type GrantAllowance,
} from '../../domain/admin/admin-token.ts'
import { rightsOf, type Role, type User } from '../../domain/admin/user.ts'
import { GatewayError } from '../../domain/errors.ts'
import { ZERO } from '../../domain/money.ts'
import type { Audit } from '../ports/access/audit.ts'
import type { Clock } from '../ports/clock.ts'

/** Who makes a change: the holder of the admin key or of an admin token, a user, or the gateway itself at its start. */
export type Actor = 'admin' | 'startup' | `token:${string}` | `user:${string}`

/** A caller of the admin API. */
export type AdminCaller = {
  readonly actor: Actor
  readonly rights: AdminRights
  /** The role of a user. Undefined for keys and tokens, which have scopes. */
  readonly role?: Role
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
    ...(grantsPerDay === null ? {} : { allowance: { of: 'token', id, perDay: grantsPerDay } }),
  }
}

/** A user of the console. The audit log names it as `user:ada@example.com (usr_…)`. */
export function callerOfUser(user: User): AdminCaller {
  const { id, email, publicId, role } = user
  return {
    actor: `user:${email} (${publicId})`,
    rights: rightsOf(user),
    role,
    ...(role === 'support' ? { allowance: { of: 'user', id, perDay: user.grantsPerDay ?? ZERO } } : {}),
  }
}

/** Throws `role_not_allowed` for a user without one of these roles. Keys and tokens have none, but scopes. */
export function requireRole({ role }: Pick<AdminCaller, 'role'>, allowed: readonly Role[]): void {
  if (role === undefined || allowed.includes(role)) return
  const needed = allowed.map(name => `"${name}"`).join(' or ')
  throw new GatewayError(
    'role_not_allowed',
    `Your role "${role}" does not allow this. It needs the role ${needed}.`,
    {
      shouldRetry: false,
    },
  )
}

/** The audit line of a change at the current time. */
export function auditOf(
  change: { readonly actor: Actor } & Pick<Audit, 'action' | 'subject' | 'detail'>,
  clock: Clock,
): Audit {
  return { ...change, atMs: clock.now() }
}
