import type { Database, Statement } from 'bun:sqlite'
import {
  patchRevocation,
  patchSwitches,
  type Account,
  type AccountPatch,
  type ApiKey,
  type KeyPatch,
} from '../../domain/accounts/account.ts'
import { GatewayError } from '../../domain/errors.ts'
import { encodeLimitsPatch, type LimitsPatch } from '../../domain/limits/limits-row.ts'
import type { AccountPage, Accounts, Authenticated, Editor, KeyName } from '../../gateway/ports/accounts.ts'
import type { Audit } from '../../gateway/ports/audit.ts'
import type { LimitOwner } from '../../gateway/ports/limits.ts'
import {
  accountFrom,
  apiKeyFrom,
  switchesFrom,
  type AccountRow,
  type ApiKeyRow,
} from '../books/account-rows.ts'
import { cursorOf, readCursor } from '../books/cursors.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Tables } from './hashed-table.ts'
import type { ChangeLimits } from './limits/limits.ts'

/** The accounts port of one node. `authenticate` takes the hash in base64. */
export class SqliteAccounts implements Accounts {
  readonly #groupCommit: GroupCommit
  readonly #auditLog: SqliteAuditLog
  readonly #tables: Tables
  readonly #sql: ReturnType<typeof statements>
  readonly #keys: ApiKeyCache
  readonly #changeLimits: ChangeLimits

  constructor(parts: {
    readonly database: Database
    readonly groupCommit: GroupCommit
    readonly auditLog: SqliteAuditLog
    readonly tables: Tables
    readonly apiKeys: ApiKeyCache
    readonly changeLimits: ChangeLimits
  }) {
    this.#groupCommit = parts.groupCommit
    this.#auditLog = parts.auditLog
    this.#tables = parts.tables
    this.#sql = statements(parts.database)
    this.#keys = parts.apiKeys
    this.#changeLimits = parts.changeLimits
  }

  createAccount({
    publicId,
    name,
    sandboxOnly,
    audit,
  }: Parameters<Accounts['createAccount']>[0]): Promise<Account> {
    const { accountByName, insertBalances } = this.#sql
    return this.#groupCommit.run(() => {
      if (accountByName.get(name) !== null)
        throw new GatewayError('already_exists', `There is already an account with the name "${name}".`, {
          param: 'name',
        })
      const id = this.#tables.accounts.insert({
        public_id: publicId,
        name,
        sandbox_only: sandboxOnly ? 1 : 0,
        created_at_ms: audit.atMs,
      })
      if (id === null) throw new Error(`The account id ${publicId} is in use.`)
      insertBalances.run(id)
      this.#auditLog.append(audit)
      return { id: Number(id), publicId, name, sandboxOnly, createdAtMs: audit.atMs, suspendedAtMs: null }
    })
  }

  async findAccount(idOrName: string): Promise<Account | undefined> {
    const row = this.#sql.accountByPublicId.get(idOrName) ?? this.#sql.accountByName.get(idOrName)
    return row === null ? undefined : accountFrom(row)
  }

  async findAccountById(id: number): Promise<Account | undefined> {
    const row = this.#sql.accountById.get(id)
    return row === null ? undefined : accountFrom(row)
  }

  async listAccounts({
    limit,
    cursor,
  }: AccountPage): Promise<{ readonly accounts: readonly Account[]; readonly next?: string }> {
    const after = cursor === undefined ? 0n : readCursor(cursor).value
    const rows = this.#sql.accountsAfter.all(after, limit + 1)
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const hasMore = rows.length > limit && last !== undefined
    return { accounts: shown.map(accountFrom), ...(hasMore ? { next: cursorOf(last.id) } : {}) }
  }

  updateAccount(publicId: string, patch: AccountPatch, { actor, atMs }: Editor): Promise<Account> {
    return this.#groupCommit.run(() => {
      const row = this.#accountRow(publicId)
      const owner = { accountId: Number(row.id), apiKeyId: undefined }
      const limits = this.#changedLimits(owner, patch.limits, { action: 'account.limits', subject: publicId })
      const { actions, suspendedAtMs, replaysOffAtMs } = patchSwitches(switchesFrom(row), patch, atMs)
      const lines = [...limits, ...actions.map(action => ({ action, subject: publicId }))]
      for (const line of lines) this.#auditLog.append({ ...line, actor, atMs })
      if (actions.length === 0) return accountFrom(row)
      this.#sql.setSwitches.run(suspendedAtMs, replaysOffAtMs, row.id)
      // No other code runs before the commit, so no key can be read and kept in between.
      this.#keys.clear()
      return accountFrom(this.#accountRow(publicId))
    })
  }

  createKey({
    publicId,
    accountId,
    name,
    hash,
    prefix,
    audit,
  }: Parameters<Accounts['createKey']>[0]): Promise<ApiKey> {
    return this.#groupCommit.run(() => {
      const id = this.#tables.apiKeys.insert({
        public_id: publicId,
        account_id: accountId,
        name,
        hash,
        prefix,
        created_at_ms: audit.atMs,
      })
      if (id === null) throw new Error(`The API key ${publicId} is in use.`)
      this.#auditLog.append(audit)
      return { id: Number(id), publicId, accountId, name, prefix, createdAtMs: audit.atMs, revokedAtMs: null }
    })
  }

  async listKeys(accountId: number): Promise<readonly ApiKey[]> {
    return this.#sql.keysOfAccount.all(accountId).map(apiKeyFrom)
  }

  async findKeys(by: KeyName): Promise<readonly ApiKey[]> {
    return this.#keyRows(by).map(apiKeyFrom)
  }

  updateKey(publicId: string, patch: KeyPatch, { actor, atMs }: Editor): Promise<ApiKey> {
    return this.#groupCommit.run(() => {
      const row = this.#sql.keyByPublicId.get(publicId)
      if (row === null) throw new RangeError(`There is no API key ${publicId}.`)
      const key = apiKeyFrom(row)
      const owner = { accountId: key.accountId, apiKeyId: key.id }
      const limits = this.#changedLimits(owner, patch.limits, { action: 'key.limits', subject: publicId })
      const { actions, revokedAtMs } = patchRevocation(key, patch, atMs)
      const lines = [...limits, ...actions.map(action => ({ action, subject: publicId }))]
      for (const line of lines) this.#auditLog.append({ ...line, actor, atMs })
      if (actions.length === 0) return key
      this.#sql.revoke.run(revokedAtMs, row.id)
      // No other code runs before the commit, so no key can be read and kept in between.
      this.#keys.clear()
      return { ...key, revokedAtMs }
    })
  }

  authenticate(hash: string): Promise<Authenticated | undefined> {
    return Promise.resolve(this.#keys.find(hash))
  }

  #keyRows(by: KeyName): readonly ApiKeyRow[] {
    if ('publicId' in by) return this.#sql.keyByPublicId.all(by.publicId)
    if ('hash' in by) return this.#sql.keyByHash.all(by.hash)
    return this.#sql.keysByPrefix.all(by.prefix)
  }

  /** Inside a step. The audit line if the patch changes limits. */
  #changedLimits(
    owner: LimitOwner,
    patch: LimitsPatch | undefined,
    line: AuditedChange,
  ): readonly AuditedChange[] {
    if (patch === undefined || !this.#changeLimits(owner, patch)) return []
    return [{ ...line, detail: JSON.stringify(encodeLimitsPatch(patch)) }]
  }

  #accountRow(publicId: string): AccountRow {
    const row = this.#sql.accountByPublicId.get(publicId)
    if (row === null) throw new RangeError(`There is no account ${publicId}.`)
    return row
  }
}

type AuditedChange = Omit<Audit, 'actor' | 'atMs'>

function statements(database: Database) {
  const accounts = 'SELECT * FROM accounts WHERE'
  const keys = 'SELECT * FROM api_keys WHERE'
  return {
    insertBalances: database.prepare('INSERT INTO balances (account_id) VALUES (?)'),
    accountByPublicId: database.prepare<AccountRow, [string]>(`${accounts} public_id = ?`),
    accountByName: database.prepare<AccountRow, [string]>(`${accounts} name = ?`),
    accountById: database.prepare<AccountRow, [number]>(`${accounts} id = ?`),
    accountsAfter: database.prepare<AccountRow, [bigint, number]>(`${accounts} id > ? ORDER BY id LIMIT ?`),
    keyByPublicId: database.prepare<ApiKeyRow, [string]>(`${keys} public_id = ?`),
    keyByHash: database.prepare<ApiKeyRow, [Uint8Array]>(`${keys} hash = ?`),
    // Reads all keys: only operators look for one, and rarely.
    keysByPrefix: database.prepare<ApiKeyRow, [string]>(`${keys} prefix = ? ORDER BY id`),
    keysOfAccount: database.prepare<ApiKeyRow, [number]>(`${keys} account_id = ? ORDER BY id`),
    setSwitches: database.prepare(
      'UPDATE accounts SET suspended_at_ms = ?, replays_off_at_ms = ? WHERE id = ?',
    ),
    revoke: database.prepare('UPDATE api_keys SET revoked_at_ms = ? WHERE id = ?'),
  } satisfies Record<string, Statement>
}

/** Keys in use that are kept by their hash, at about 500 bytes each. */
const KEYS_KEPT_MAX = 100_000

/**
 * The keys in use by their hash in base64, which all nodes of a store share. Only keys that exist are kept: an unknown
 * one costs a read of an index, and a flood of them takes no memory.
 */
export class ApiKeyCache {
  readonly #keyByHash: Statement<ApiKeyRow, [Uint8Array]>
  readonly #accountById: Statement<AccountRow, [bigint]>
  readonly #kept = new Map<string, Authenticated>()

  constructor(database: Database) {
    this.#keyByHash = database.prepare('SELECT * FROM api_keys WHERE hash = ? AND revoked_at_ms IS NULL')
    this.#accountById = database.prepare('SELECT * FROM accounts WHERE id = ?')
  }

  find(hash: string): Authenticated | undefined {
    return this.#kept.get(hash) ?? this.#load(hash)
  }

  clear(): void {
    this.#kept.clear()
  }

  #load(hash: string): Authenticated | undefined {
    const key = this.#keyByHash.get(Buffer.from(hash, 'base64'))
    const account = key === null ? null : this.#accountById.get(key.account_id)
    if (key === null || account === null) return undefined
    const authenticated = { account: accountFrom(account), apiKey: apiKeyFrom(key) }
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < KEYS_KEPT_MAX) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(hash, authenticated)
    return authenticated
  }
}
