import type { HashedTableDefinition } from './hashed-table.ts'

// The hashed tables of who may do what, and who changed it.

export const auditTable = {
  tag: 6,
  name: 'audit_log',
  columns: { actor: 'text', action: 'text', subject: 'text', at_ms: 'integer', detail: 'text?' },
  named: { revision: 'integer?', history_sha256: 'text?' },
} as const satisfies HashedTableDefinition

export const accountsTable = {
  tag: 7,
  name: 'accounts',
  columns: { public_id: 'text', name: 'text', sandbox_only: 'integer', created_at_ms: 'integer' },
  firstIn: { name: 'first_name' },
  later: ['suspended_at_ms', 'replays_off_at_ms', 'closed_at_ms', 'first_name', 'price_list'],
} as const satisfies HashedTableDefinition

export const apiKeysTable = {
  tag: 8,
  name: 'api_keys',
  columns: {
    public_id: 'text',
    account_id: 'integer',
    name: 'text',
    hash: 'blob',
    prefix: 'text',
    created_at_ms: 'integer',
  },
  named: { project_id: 'integer?' },
  firstIn: { name: 'first_name' },
  later: ['revoked_at_ms', 'disabled_at_ms', 'settings', 'last_used_day', 'first_name'],
} as const satisfies HashedTableDefinition

export const adminTokensTable = {
  tag: 13,
  name: 'admin_tokens',
  columns: {
    public_id: 'text',
    name: 'text',
    hash: 'blob',
    prefix: 'text',
    scopes: 'text',
    grants_per_day: 'integer?',
    expires_at_ms: 'integer?',
    created_by: 'text',
    created_at_ms: 'integer',
  },
  later: ['revoked_at_ms', 'last_used_day'],
} as const satisfies HashedTableDefinition

/** The audit log has the name of a project. */
export const projectsTable = {
  tag: 14,
  name: 'projects',
  columns: { public_id: 'text', account_id: 'integer', created_at_ms: 'integer' },
  changing: { name: 'text' },
  later: ['closed_at_ms'],
} as const satisfies HashedTableDefinition

export const keySecretsTable = {
  tag: 27,
  name: 'api_key_secrets',
  columns: {
    account_id: 'integer',
    api_key_id: 'integer',
    hash: 'blob',
    prefix: 'text',
    created_at_ms: 'integer',
  },
} as const satisfies HashedTableDefinition

export const secretEndsTable = {
  tag: 28,
  name: 'api_key_secret_ends',
  columns: {
    account_id: 'integer',
    api_key_id: 'integer',
    secret: 'integer',
    ends_at_ms: 'integer?',
    at_ms: 'integer',
  },
} as const satisfies HashedTableDefinition
