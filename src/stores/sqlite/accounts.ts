import type { Database } from 'bun:sqlite'
import type { Account, ApiKey } from '../../domain/accounts/account.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Accounts, Authenticated } from '../../gateway/ports/accounts.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { GroupCommit } from './group-commit.ts'

/** Keys in use that are kept by their hash, at about 500 bytes each. */
const KEYS_KEPT_MAX = 100_000

/**
 * Accounts and keys in their tables. `authenticate` takes the hash in base64 and always answers at once. Only keys that
 * exist are kept in memory: a bad one costs one read of an index, and a flood of them nothing more.
 */
export function createAccounts(parts: {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly auditLog: SqliteAuditLog
}): Accounts {
  const { database, groupCommit, auditLog } = parts
  const insertAccount = database.prepare(
    'INSERT INTO accounts (public_id, name, sandbox_only, created_at_ms) VALUES (?, ?, ?, ?)',
  )
  const insertBalances = database.prepare('INSERT INTO balances (account_id) VALUES (?)')
  const accountById = database.prepare<AccountRow, [number | bigint]>('SELECT * FROM accounts WHERE id = ?')
  const accountByPublicId = database.prepare<AccountRow, [string]>(
    'SELECT * FROM accounts WHERE public_id = ?',
  )
  const accountByName = database.prepare<AccountRow, [string]>('SELECT * FROM accounts WHERE name = ?')
  const accountsAfter = database.prepare<AccountRow, [number, number]>(
    'SELECT * FROM accounts WHERE id > ? ORDER BY id LIMIT ?',
  )
  const insertKey = database.prepare(
    'INSERT INTO api_keys (public_id, account_id, name, hash, prefix, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const keyByPublicId = database.prepare<KeyRow, [string]>('SELECT * FROM api_keys WHERE public_id = ?')
  const usableKeyByHash = database.prepare<KeyRow, [Uint8Array]>(
    'SELECT * FROM api_keys WHERE hash = ? AND revoked_at_ms IS NULL',
  )
  const keysOfAccount = database.prepare<KeyRow, [number]>(
    'SELECT * FROM api_keys WHERE account_id = ? ORDER BY id',
  )
  const revoke = database.prepare('UPDATE api_keys SET revoked_at_ms = ? WHERE id = ?')
  const kept = new Map<string, Authenticated>()

  function load(hash: string): Authenticated | undefined {
    const key = usableKeyByHash.get(Buffer.from(hash, 'base64'))
    const account = key === null ? null : accountById.get(key.account_id)
    if (key === null || account === null) return undefined
    const authenticated = { account: accountFrom(account), apiKey: keyFrom(key) }
    for (const oldest of kept.keys()) {
      if (kept.size < KEYS_KEPT_MAX) break
      kept.delete(oldest)
    }
    kept.set(hash, authenticated)
    return authenticated
  }

  return {
    createAccount: ({ publicId, name, sandboxOnly, audit }) =>
      groupCommit.run(() => {
        if (accountByName.get(name) !== null)
          throw new GatewayError('already_exists', `An account is called "${name}" already.`, {
            param: 'name',
          })
        const { lastInsertRowid } = insertAccount.run(publicId, name, sandboxOnly ? 1 : 0, audit.atMs)
        insertBalances.run(lastInsertRowid)
        auditLog.append(audit)
        return { id: Number(lastInsertRowid), publicId, name, sandboxOnly, createdAtMs: audit.atMs }
      }),

    async findAccount(idOrName) {
      const row = accountByPublicId.get(idOrName) ?? accountByName.get(idOrName)
      return row === null ? undefined : accountFrom(row)
    },

    async listAccounts({ limit, afterId }) {
      return accountsAfter.all(afterId ?? 0, limit).map(accountFrom)
    },

    createKey: ({ publicId, accountId, name, hash, prefix, audit }) =>
      groupCommit.run(() => {
        const { lastInsertRowid } = insertKey.run(publicId, accountId, name, hash, prefix, audit.atMs)
        auditLog.append(audit)
        const id = Number(lastInsertRowid)
        return { id, publicId, accountId, name, prefix, createdAtMs: audit.atMs, revokedAtMs: null }
      }),

    async listKeys(accountId) {
      return keysOfAccount.all(accountId).map(keyFrom)
    },

    revokeKey: (publicId, audit) =>
      groupCommit.run(() => {
        const row = keyByPublicId.get(publicId)
        if (row === null) return undefined
        if (row.revoked_at_ms !== null) return keyFrom(row)
        revoke.run(audit.atMs, row.id)
        auditLog.append(audit)
        // Nobody can ask before the commit: a transaction never outlives one turn of the event loop.
        kept.clear()
        return { ...keyFrom(row), revokedAtMs: audit.atMs }
      }),

    authenticate: hash => kept.get(hash) ?? load(hash),
  }
}

type AccountRow = {
  id: bigint
  public_id: string
  name: string
  sandbox_only: bigint
  created_at_ms: bigint
}

type KeyRow = {
  id: bigint
  public_id: string
  account_id: bigint
  name: string
  hash: Uint8Array
  prefix: string
  created_at_ms: bigint
  revoked_at_ms: bigint | null
}

function accountFrom(row: AccountRow): Account {
  return {
    id: Number(row.id),
    publicId: row.public_id,
    name: row.name,
    sandboxOnly: row.sandbox_only === 1n,
    createdAtMs: Number(row.created_at_ms),
  }
}

function keyFrom(row: KeyRow): ApiKey {
  return {
    id: Number(row.id),
    publicId: row.public_id,
    accountId: Number(row.account_id),
    name: row.name,
    prefix: row.prefix,
    createdAtMs: Number(row.created_at_ms),
    revokedAtMs: row.revoked_at_ms === null ? null : Number(row.revoked_at_ms),
  }
}
