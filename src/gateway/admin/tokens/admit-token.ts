import {
  hasScope,
  tokenProblem,
  type AdminScope,
  type AdminToken,
} from '../../../domain/admin/admin-token.ts'
import { GatewayError } from '../../../domain/errors.ts'
import type { AdminTokens } from '../../ports/access/admin-tokens.ts'
import type { Clock } from '../../ports/clock.ts'
import { callerOf, type AdminCaller } from '../operator.ts'

export type AdmitTokenPorts = {
  readonly adminTokens: Pick<AdminTokens, 'find' | 'noteUse'>
  readonly sha256: (text: string) => Uint8Array
  readonly clock: Clock
}

/**
 * Admits the holder of an admin token, and notes its use. Throws `admin_token_unknown`, `admin_token_expired` or
 * `admin_token_revoked`.
 */
export async function admitToken(
  text: string,
  { adminTokens, sha256, clock }: AdmitTokenPorts,
): Promise<AdminCaller> {
  const [token] = await adminTokens.find({ hash: sha256(text) })
  if (token === undefined)
    throw new GatewayError('admin_token_unknown', 'This admin token is unknown.', { shouldRetry: false })
  refuseEnded(token, clock.now())
  adminTokens.noteUse(token, clock.now())
  return callerOf(token)
}

/** Throws `missing_scope` unless the caller has one of these scopes. */
export function requireScope({ rights }: Pick<AdminCaller, 'rights'>, needed: readonly AdminScope[]): void {
  if (hasScope(rights.scopes, needed)) return
  const own = rights.scopes.length === 1 ? 'the scope' : 'the scopes'
  throw new GatewayError(
    'missing_scope',
    `This needs an admin token with the scope ${quoted(needed, 'or')}. The token has ${own} ${quoted(rights.scopes, 'and')}.`,
    { shouldRetry: false },
  )
}

function refuseEnded(token: AdminToken, nowMs: number): void {
  const problem = tokenProblem(token, nowMs)
  if (problem === undefined) return
  const name = `The admin token "${token.name}" (${token.publicId})`
  const at = new Date((problem === 'revoked' ? token.revokedAtMs : token.expiresAtMs) ?? 0).toISOString()
  throw problem === 'revoked'
    ? new GatewayError('admin_token_revoked', `${name} was revoked at ${at}.`, { shouldRetry: false })
    : new GatewayError('admin_token_expired', `${name} expired at ${at}.`, { shouldRetry: false })
}

function quoted(scopes: readonly AdminScope[], between: 'or' | 'and'): string {
  return scopes.map(scope => `"${scope}"`).join(` ${between} `)
}
