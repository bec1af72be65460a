import type { Account, AccountSwitches } from '../../../domain/accounts/account.ts'
import type { ApiKey } from '../../../domain/accounts/api-key.ts'
import type { Project } from '../../../domain/accounts/project.ts'
import { nanoUsd } from '../../../domain/money.ts'
import { currentSecret, type KeySecret, type SecretEnd } from '../../../domain/accounts/key-secrets.ts'
import { readKeySettings } from '../../../domain/accounts/key-settings.ts'

export type AccountRow = {
  id: bigint
  public_id: string
  name: string
  sandbox_only: bigint
  created_at_ms: bigint
  suspended_at_ms: bigint | null
  replays_off_at_ms: bigint | null
  closed_at_ms: bigint | null
  first_name: string | null
  price_list: string | null
  /** Null if it has no alert. Not every read has it. */
  alert_below?: bigint | null
  /** In another table. Not every read has them. */
  contacts?: readonly string[]
  /** 1 if webhooks are told of its jobs. Not every read has it. */
  job_events?: bigint
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
  disabled_at_ms: bigint | null
  settings: string | null
  last_used_day: bigint | null
  first_name: string | null
}

export type ProjectRow = {
  id: bigint
  public_id: string
  account_id: bigint
  name: string
  created_at_ms: bigint
  closed_at_ms: bigint | null
}

export type KeySecretRow = { id: bigint; api_key_id: bigint; prefix: string; created_at_ms: bigint }

export type SecretEndRow = {
  api_key_id: bigint
  secret: bigint
  ends_at_ms: bigint | null
  at_ms: bigint
}

/** The rows of the secrets that rotations added to a key, and of the ends of its secrets, in the order of their ids. */
export type RotationRows = {
  readonly secrets: readonly KeySecretRow[]
  readonly ends: readonly SecretEndRow[]
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
    ...(row.closed_at_ms === null ? {} : { closedAtMs: Number(row.closed_at_ms) }),
    ...(replaysOffAtMs === null ? {} : { replays: false }),
    ...(row.price_list === null ? {} : { priceList: row.price_list }),
    ...(row.contacts !== undefined && row.contacts.length > 0 && { contacts: row.contacts }),
    ...(typeof row.alert_below === 'bigint' && { alertBelow: nanoUsd(row.alert_below) }),
    ...(row.job_events === 1n && { jobEvents: true }),
  }
}

export function switchesFrom(row: AccountRow): AccountSwitches {
  return {
    suspendedAtMs: row.suspended_at_ms === null ? null : Number(row.suspended_at_ms),
    replaysOffAtMs: row.replays_off_at_ms === null ? null : Number(row.replays_off_at_ms),
  }
}

export function apiKeyFrom(row: ApiKeyRow, rotations: RotationRows): ApiKey {
  const secrets = secretsFrom(row, rotations)
  const settings = row.settings === null ? undefined : readKeySettings(row.settings)
  return {
    id: Number(row.id),
    publicId: row.public_id,
    accountId: Number(row.account_id),
    ...(row.project_id === null ? {} : { projectId: Number(row.project_id) }),
    name: row.name,
    prefix: currentSecret(secrets).prefix,
    secrets,
    createdAtMs: Number(row.created_at_ms),
    revokedAtMs: row.revoked_at_ms === null ? null : Number(row.revoked_at_ms),
    disabledAtMs: row.disabled_at_ms === null ? null : Number(row.disabled_at_ms),
    ...(settings === undefined ? {} : { settings }),
    lastUsedDay: row.last_used_day === null ? null : Number(row.last_used_day),
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

function secretsFrom(row: ApiKeyRow, { secrets, ends }: RotationRows): readonly KeySecret[] {
  const endOf = new Map<bigint, SecretEnd | null>()
  for (const { secret, ends_at_ms: endsAtMs, at_ms: atMs } of ends)
    endOf.set(secret, endsAtMs === null ? null : { atMs: Number(endsAtMs), isFinal: endsAtMs <= atMs })
  const first = { id: 0n, prefix: row.prefix, created_at_ms: row.created_at_ms }
  return [first, ...secrets].map(({ id, prefix, created_at_ms: createdAtMs }) => ({
    number: Number(id),
    prefix,
    createdAtMs: Number(createdAtMs),
    end: endOf.get(id) ?? null,
  }))
}
