import {
  adminTokenPrefix,
  adminTokenText,
  beginsAdminToken,
  KEY_BYTES,
} from '../../../domain/accounts/api-key-text.ts'
import {
  adminScopes,
  excessOver,
  type AdminRights,
  type AdminToken,
} from '../../../domain/admin/admin-token.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId, type Id } from '../../../domain/ids.ts'
import { formatUsd } from '../../../domain/money.ts'
import type { AdminTokens } from '../../ports/access/admin-tokens.ts'
import type { Clock } from '../../ports/clock.ts'
import { checkedName } from '../accounts/create-account.ts'
import { CREDIT_MAX } from '../accounts/credit-account.ts'
import { auditOf, type AdminCaller } from '../operator.ts'

/**
 * Creates an admin token with at most the rights of its creator. `text` is the token itself. It is returned only here,
 * and the store keeps its hash. Throws `invalid_field`, and `already_exists` for the name of a token that is not
 * revoked.
 */
export async function createAdminToken(
  request: { readonly name: string; readonly rights: AdminRights; readonly creator: AdminCaller },
  ports: {
    readonly adminTokens: Pick<AdminTokens, 'create'>
    readonly newId: () => Id
    readonly clock: Clock
    /** Cryptographically secure random bytes. */
    readonly randomBytes: (count: number) => Uint8Array
    readonly sha256: (text: string) => Uint8Array
  },
): Promise<{ readonly token: AdminToken; readonly text: string }> {
  const { creator } = request
  const name = checkedTokenName(request.name)
  const rights = checkedRights(request.rights, creator, ports.clock.now())
  const text = adminTokenText(ports.randomBytes(KEY_BYTES))
  const publicId = formatId('tok', ports.newId())
  const change = {
    actor: creator.actor,
    action: 'token.create',
    subject: publicId,
    detail: detailOf(name, rights),
  }
  const token = await ports.adminTokens.create({
    ...rights,
    publicId,
    name,
    hash: ports.sha256(text),
    prefix: adminTokenPrefix(text),
    audit: auditOf(change, ports.clock),
  })
  return { token, text }
}

/** Commands accept a name, an id or the first characters of a token, so a name must not look like one of the others. */
function checkedTokenName(text: string): string {
  const name = checkedName(text)
  if (name.startsWith('tok_') || beginsAdminToken(name))
    throw wrong('name', 'must not begin with "tok_" or "tg_admin_", because the ids and texts of tokens do')
  return name
}

/** The rights with each scope once, in the usual order. */
function checkedRights(rights: AdminRights, { rights: own }: AdminCaller, nowMs: number): AdminRights {
  const { grantsPerDay, expiresAtMs } = rights
  const scopes = adminScopes.filter(scope => rights.scopes.includes(scope))
  if (scopes.length === 0) throw wrong('scopes', `must have at least one of ${adminScopes.join(', ')}`)
  if (scopes.includes('all') && scopes.length > 1)
    throw wrong('scopes', 'must have only "all", or not have it: "all" includes the other scopes')
  if (scopes.includes('grants') !== (grantsPerDay !== null))
    throw wrong(
      'grants_per_day_usd',
      grantsPerDay === null
        ? 'is missing: a token with the scope "grants" has a limit a day'
        : 'needs the scope "grants"',
    )
  if (grantsPerDay !== null && (grantsPerDay <= 0n || grantsPerDay > CREDIT_MAX))
    throw wrong('grants_per_day_usd', `must be above 0 and at most ${formatUsd(CREDIT_MAX)}`)
  if (expiresAtMs !== null && expiresAtMs <= nowMs) throw wrong('expires_at', 'must be in the future')
  const excess = excessOver(own, rights)
  if (excess !== undefined)
    throw wrong(fieldOf[excess], `must not be more than its creator has itself: ${wordsOf(own)}`)
  return { scopes, grantsPerDay, expiresAtMs }
}

const fieldOf = {
  scopes: 'scopes',
  grantsPerDay: 'grants_per_day_usd',
  expiresAtMs: 'expires_at',
} as const satisfies Record<keyof AdminRights, string>

function detailOf(name: string, rights: AdminRights): string {
  return `"${name}" with ${wordsOf(rights)}`
}

/** In words for people, such as `read, grants, 50 USD of grants a day, without an expiry`. */
function wordsOf({ scopes, grantsPerDay, expiresAtMs }: AdminRights): string {
  const limit = grantsPerDay === null ? '' : `, ${formatUsd(grantsPerDay)} USD of grants a day`
  const end = expiresAtMs === null ? 'without an expiry' : `until ${new Date(expiresAtMs).toISOString()}`
  return `${scopes.join(', ')}${limit}, ${end}`
}

function wrong(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_field', `"${param}" ${problem}.`, { param })
}
