import { adminTokenPrefix, beginsAdminToken } from '../../../domain/accounts/api-key-text.ts'
import type { AdminScope } from '../../../domain/admin/admin-token.ts'
import { adminPath, type Ask } from '../../ask.ts'
import { CliError, table, type Outcome } from '../../outcome.ts'
import { allPages } from '../accounts/accounts.ts'

type TokenReply = {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly AdminScope[]
  readonly grants_per_day_usd: string | null
  readonly granted_today_usd: string | null
  readonly created_by: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_on: string | null
  readonly revoked_at: string | null
  readonly state: 'active' | 'expired' | 'revoked'
}

export type TokenTerms = {
  readonly name: string
  readonly scopes: readonly AdminScope[]
  readonly grantsPerDay: string | undefined
  /** In RFC 3339. Undefined for a token that does not expire. */
  readonly expiresAt: string | undefined
}

/** Creates a token. The output is only the token, so that a script can capture it. It is shown only once. */
export async function createToken(ask: Ask, terms: TokenTerms): Promise<Outcome> {
  if (terms.scopes.includes('grants') && terms.grantsPerDay === undefined)
    throw new CliError(
      '--scope grants needs --grants-per-day USD, the most that its grants of a day add up to.',
      {
        exitCode: 2,
        code: 'invalid_argument',
      },
    )
  const token = await ask<TokenReply & { readonly token: string }>({
    method: 'POST',
    path: 'tokens',
    json: {
      name: terms.name,
      scopes: terms.scopes,
      grants_per_day_usd: terms.grantsPerDay,
      expires_at: terms.expiresAt,
    },
  })
  const end = token.expires_at === null ? 'It does not expire.' : `It expires at ${token.expires_at}.`
  return {
    value: token,
    text: token.token,
    note: `The id of this token is ${token.id}. ${end} The token is not shown again, because only its hash is stored.`,
  }
}

/** Lists all tokens, including expired and revoked ones, without their texts. */
export async function listTokens(ask: Ask): Promise<Outcome> {
  const data = await allPages<TokenReply>(ask, 'tokens')
  const rows = data.map(token => [
    `${token.prefix}…`,
    token.id,
    token.name,
    scopesOf(token),
    token.created_at,
    token.expires_at ?? 'never',
    token.last_used_on ?? 'never',
    token.state,
  ])
  const head = ['TOKEN', 'ID', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'STATE']
  return { value: { data }, text: data.length === 0 ? 'No admin tokens.' : table(head, rows) }
}

/** Revokes a token with effect from the next request. Repeating it changes nothing. */
export async function revokeToken(ask: Ask, name: string): Promise<Outcome> {
  // The text of a token must not be in a path, because paths get into logs.
  const named = beginsAdminToken(name) ? adminTokenPrefix(name) : name
  const token = await ask<TokenReply>({ method: 'DELETE', path: adminPath('tokens', named) })
  return {
    value: token,
    text: `Revoked ${token.name}, ${token.prefix}… (${token.id}). Requests with this token are now refused.`,
  }
}

function scopesOf({ scopes, grants_per_day_usd: perDay, granted_today_usd: today }: TokenReply): string {
  return scopes
    .map(scope => (scope === 'grants' ? `grants (${today ?? '0'} of ${perDay ?? '0'} USD today)` : scope))
    .join(', ')
}
