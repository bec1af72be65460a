import { adminScopes, type AdminScope, type AdminToken } from '../../../domain/admin/admin-token.ts'
import { nanoUsd } from '../../../domain/money.ts'
import type { NewAdminToken } from '../../../gateway/ports/access/admin-tokens.ts'
import type { adminTokensTable } from './access-tables.ts'
import type { NewRow } from './hashed-table.ts'

export type AdminTokenRow = {
  id: bigint
  public_id: string
  name: string
  hash: Uint8Array
  prefix: string
  scopes: string
  grants_per_day: bigint | null
  expires_at_ms: bigint | null
  created_by: string
  created_at_ms: bigint
  revoked_at_ms: bigint | null
  last_used_day: bigint | null
}

/** The row of a new token. Its scopes are words with spaces between them. */
export function adminTokenRow(request: NewAdminToken): NewRow<typeof adminTokensTable> {
  const { publicId, name, hash, prefix, scopes, grantsPerDay, expiresAtMs, audit } = request
  return {
    public_id: publicId,
    name,
    hash,
    prefix,
    scopes: scopes.join(' '),
    grants_per_day: grantsPerDay,
    expires_at_ms: expiresAtMs,
    created_by: audit.actor,
    created_at_ms: audit.atMs,
  }
}

export function adminTokenFrom(row: AdminTokenRow): AdminToken {
  return {
    id: Number(row.id),
    publicId: row.public_id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes.split(' ').filter(isScope),
    grantsPerDay: row.grants_per_day === null ? null : nanoUsd(row.grants_per_day),
    expiresAtMs: numberOrNull(row.expires_at_ms),
    createdBy: row.created_by,
    createdAtMs: Number(row.created_at_ms),
    lastUsedDay: numberOrNull(row.last_used_day),
    revokedAtMs: numberOrNull(row.revoked_at_ms),
  }
}

/** A scope of a later version gives no rights. */
function isScope(word: string): word is AdminScope {
  return adminScopes.some(scope => scope === word)
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}
