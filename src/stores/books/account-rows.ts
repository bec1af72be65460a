import type { Account, AccountSwitches } from '../../domain/accounts/account.ts'
import type { ApiKey } from '../../domain/accounts/api-key.ts'
import type { Project } from '../../domain/accounts/project.ts'

export type AccountRow = {
  id: bigint
  public_id: string
  name: string
  sandbox_only: bigint
  created_at_ms: bigint
  suspended_at_ms: bigint | null
  replays_off_at_ms: bigint | null
}

export type ApiKeyRow = {
  id: bigint
  public_id: string
  account_id: bigint
  name: string
  hash: Uint8Array
  prefix: string
  created_at_ms: bigint
  revoked_at_ms: bigint | null
  project_id: bigint | null
}

export type ProjectRow = {
  id: bigint
  public_id: string
  account_id: bigint
  name: string
  created_at_ms: bigint
  closed_at_ms: bigint | null
}

export function accountFrom(row: AccountRow): Account {
  const { suspendedAtMs, replaysOffAtMs } = switchesFrom(row)
  return {
    id: Number(row.id),
    publicId: row.public_id,
    name: row.name,
    sandboxOnly: row.sandbox_only === 1n,
    createdAtMs: Number(row.created_at_ms),
    suspendedAtMs,
    ...(replaysOffAtMs === null ? {} : { replays: false }),
  }
}

export function switchesFrom(row: AccountRow): AccountSwitches {
  return {
    suspendedAtMs: row.suspended_at_ms === null ? null : Number(row.suspended_at_ms),
    replaysOffAtMs: row.replays_off_at_ms === null ? null : Number(row.replays_off_at_ms),
  }
}

export function apiKeyFrom(row: ApiKeyRow): ApiKey {
  return {
    id: Number(row.id),
    publicId: row.public_id,
    accountId: Number(row.account_id),
    ...(row.project_id === null ? {} : { projectId: Number(row.project_id) }),
    name: row.name,
    prefix: row.prefix,
    createdAtMs: Number(row.created_at_ms),
    revokedAtMs: row.revoked_at_ms === null ? null : Number(row.revoked_at_ms),
  }
}

export function projectFrom(row: ProjectRow): Project {
  return {
    id: Number(row.id),
    publicId: row.public_id,
    accountId: Number(row.account_id),
    name: row.name,
    createdAtMs: Number(row.created_at_ms),
    closedAtMs: row.closed_at_ms === null ? null : Number(row.closed_at_ms),
  }
}
