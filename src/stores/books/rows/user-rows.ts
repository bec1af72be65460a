import { roles, type Role, type Session, type User } from '../../../domain/admin/user.ts'
import { nanoUsd } from '../../../domain/money.ts'

export type UserRow = {
  id: bigint
  public_id: string
  email: string
  name: string
  role: string
  account_id: bigint | null
  grants_per_day: bigint | null
  password_hash: string | null
  totp_secret: Uint8Array | null
  totp_pending: Uint8Array | null
  totp_used_step: bigint
  oidc_issuer: string | null
  oidc_subject: string | null
  sign_in_version: bigint
  created_by: string
  created_at_ms: bigint
  signed_in_at_ms: bigint | null
  disabled_at_ms: bigint | null
}

export type SessionRow = {
  id: bigint
  public_id: string
  user_id: bigint
  address: string
  user_agent: string
  created_at_ms: bigint
  used_at_ms: bigint
}

export function userFrom(row: UserRow): User {
  const { oidc_issuer: issuer, oidc_subject: subject } = row
  return {
    id: Number(row.id),
    publicId: row.public_id,
    email: row.email,
    name: row.name,
    role: roleFrom(row.role),
    accountId: numberOrNull(row.account_id),
    grantsPerDay: row.grants_per_day === null ? null : nanoUsd(row.grants_per_day),
    hasPassword: row.password_hash !== null,
    hasTotp: row.totp_secret !== null,
    identity: issuer === null || subject === null ? null : { issuer, subject },
    signInVersion: Number(row.sign_in_version),
    createdBy: row.created_by,
    createdAtMs: Number(row.created_at_ms),
    signedInAtMs: numberOrNull(row.signed_in_at_ms),
    disabledAtMs: numberOrNull(row.disabled_at_ms),
  }
}

export function sessionFrom(row: SessionRow): Session {
  return {
    publicId: row.public_id,
    address: row.address,
    userAgent: row.user_agent,
    createdAtMs: Number(row.created_at_ms),
    usedAtMs: Number(row.used_at_ms),
  }
}

/** A role of a later version gives only the rights of the least one. */
function roleFrom(word: string): Role {
  return roles.find(role => role === word) ?? 'viewer'
}

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}
