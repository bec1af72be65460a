import type { Database, Statement } from 'bun:sqlite'
import { patchKey, settingsDetail, type ApiKey, type KeyPatch } from '../../domain/accounts/api-key.ts'
import { settingsOfNewKey } from '../../domain/accounts/key-defaults.ts'
import { revokeSecret, rotateSecret, rotationDetail, type NewEnd } from '../../domain/accounts/key-secrets.ts'
import { writeKeySettings } from '../../domain/accounts/key-settings.ts'
import { GatewayError } from '../../domain/errors.ts'
import { patchLimits } from '../../domain/limits/limits-row.ts'
import type { Editor } from '../../gateway/ports/accounts.ts'
import type { ApiKeys, Authenticated, KeyName } from '../../gateway/ports/api-keys.ts'
import type { Audit } from '../../gateway/ports/audit.ts'
import type { ApiKeyRow, ProjectRow } from '../books/account-rows.ts'
import type { ApiKeyCache } from './api-key-cache.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import { ClosedAccounts } from './closed-accounts.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Tables } from './hashed-table.ts'
import { KeySecretRows } from './key-secrets.ts'
import { KeyUses } from './key-uses.ts'
import type { KeyDefaultRows } from './limits/key-defaults.ts'
import type { ChangeLimits } from './limits/limits.ts'

/** The API keys of one node. `authenticate` takes the hash in base64. */
export class SqliteApiKeys implements ApiKeys {
  readonly #groupCommit: GroupCommit
  readonly #auditLog: SqliteAuditLog
  readonly #tables: Tables
  readonly #sql: ReturnType<typeof statements>
  readonly #secrets: KeySecretRows
  readonly #closedAccounts: ClosedAccounts
  readonly #keptKeys: ApiKeyCache
  readonly #changeLimits: ChangeLimits
  readonly #keyDefaults: KeyDefaultRows
  readonly #uses: KeyUses

  constructor(parts: {
    readonly database: Database
    readonly groupCommit: GroupCommit
    readonly auditLog: SqliteAuditLog
    readonly tables: Tables
    readonly keptKeys: ApiKeyCache
    readonly changeLimits: ChangeLimits
    readonly keyDefaults: KeyDefaultRows
  }) {
    this.#groupCommit = parts.groupCommit
    this.#auditLog = parts.auditLog
    this.#tables = parts.tables
    this.#sql = statements(parts.database)
    this.#secrets = new KeySecretRows(parts.database)
    this.#closedAccounts = new ClosedAccounts(parts.database)
    this.#keptKeys = parts.keptKeys
    this.#changeLimits = parts.changeLimits
    this.#keyDefaults = parts.keyDefaults
    this.#uses = new KeyUses(parts)
  }

  create(request: Parameters<ApiKeys['create']>[0]): Promise<ApiKey> {
    const { publicId, accountId, projectId, name, hash, prefix, limits, audit } = request
    return this.#groupCommit.run(() => {
      this.#closedAccounts.refuse(accountId, 'keys')
      if (projectId !== undefined) this.#refuseProject(accountId, projectId)
      const id = this.#tables.apiKeys.insert({
        public_id: publicId,
        account_id: accountId,
        project_id: projectId ?? null,
        name,
        hash,
        prefix,
        created_at_ms: audit.atMs,
      })
      if (id === null) throw new Error(`The API key ${publicId} is in use.`)
      const defaults = this.#keyDefaults.ofNewKey(accountId)
      const settings = { ...settingsOfNewKey(defaults, audit.atMs), ...request.settings }
      const isPlain = Object.keys(settings).length === 0
      this.#auditLog.append(isPlain ? audit : { ...audit, detail: settingsDetail(settings) })
      if (!isPlain) this.#writeChanges(patchKey(this.#key(publicId), { settings }, audit.atMs).key)
      const line = { action: 'key.limits', subject: publicId }
      const owner = { accountId, apiKeyId: Number(id) }
      const { limits: rates, budgets } = defaults
      const own = patchLimits({ limits: rates, budgets, perModel: {} }, limits ?? {})
      for (const change of this.#changeLimits(owner, own, line, { isNew: true }))
        this.#auditLog.append({ ...change, actor: audit.actor, atMs: audit.atMs })
      return this.#key(publicId)
    })
  }

  async list(accountId: number): Promise<readonly ApiKey[]> {
    return this.#secrets.keysFrom(this.#sql.ofAccount.all(accountId))
  }

  async find(by: KeyName): Promise<readonly ApiKey[]> {
    return this.#secrets.keysFrom(this.#keyRows(by))
  }

  update(publicId: string, patch: KeyPatch, { actor, atMs }: Editor): Promise<ApiKey> {
    return this.#groupCommit.run(() => {
      const before = this.#key(publicId)
      const owner = { accountId: before.accountId, apiKeyId: before.id }
      const limits = this.#changeLimits(owner, patch.limits, { action: 'key.limits', subject: publicId })
      const { key, changes } = patchKey(before, patch, atMs)
      const lines = [...limits, ...changes.map(change => ({ ...change, subject: publicId }))]
      for (const line of lines) this.#auditLog.append({ ...line, actor, atMs })
      if (changes.length === 0) return before
      this.#writeChanges(key)
      // No other code runs before the commit, so no key can be read and kept in between.
      this.#keptKeys.clear()
      return key
    })
  }

  rotate(
    publicId: string,
    { hash, prefix, oldEndsAtMs }: Parameters<ApiKeys['rotate']>[1],
    { actor, atMs }: Editor,
  ): Promise<ApiKey> {
    return this.#groupCommit.run(() => {
      const key = this.#key(publicId)
      this.#closedAccounts.refuse(key.accountId, 'keys')
      const ends = rotateSecret(key, { oldEndsAtMs, nowMs: atMs })
      const secret = { account_id: key.accountId, api_key_id: key.id, hash, prefix, created_at_ms: atMs }
      if (this.#tables.keySecrets.insert(secret) === null)
        throw new Error(`The new secret of ${publicId} is in use.`)
      const detail = rotationDetail({
        prefix,
        oldPrefix: key.prefix,
        oldEndsAtMs: Math.max(oldEndsAtMs, atMs),
      })
      return this.#endSecrets(key, ends, { action: 'key.rotate', subject: publicId, actor, atMs, detail })
    })
  }

  revokeSecret(publicId: string, prefix: string, { actor, atMs }: Editor): Promise<ApiKey> {
    return this.#groupCommit.run(() => {
      const key = this.#key(publicId)
      const ends = revokeSecret(key, prefix, atMs)
      if (ends.length === 0) return key
      const line = { action: 'key.revoke_secret', subject: publicId, actor, atMs, detail: prefix }
      return this.#endSecrets(key, ends, line)
    })
  }

  authenticate(hash: string): Promise<Authenticated | undefined> {
    return Promise.resolve(this.#keptKeys.find(hash))
  }

  noteUse(key: ApiKey, atMs: number): void {
    this.#uses.note(key, atMs)
  }

  writeUses(): Promise<void> {
    return this.#uses.write()
  }

  /** Inside a step. */
  #writeChanges({ id, name, revokedAtMs, disabledAtMs, settings }: ApiKey): void {
    this.#sql.change.run({ id, name, revokedAtMs, disabledAtMs, settings: writeKeySettings(settings) })
  }

  /** Inside a step, so that no key gets into a project that is closed at the same time. */
  #refuseProject(accountId: number, projectId: number): void {
    const project = this.#sql.projectById.get(projectId)
    const problem =
      project === null || Number(project.account_id) !== accountId
        ? 'This account has no such project.'
        : project.closed_at_ms !== null &&
          `The project "${project.name}" is closed. Create the key in another one.`
    if (problem !== false) throw new GatewayError('invalid_field', problem, { param: 'project' })
  }

  /** Inside a step. */
  #endSecrets(key: ApiKey, ends: readonly NewEnd[], line: Audit): ApiKey {
    this.#secrets.addEnds(key, ends, { tables: this.#tables, atMs: line.atMs })
    this.#auditLog.append(line)
    // No other code runs before the commit, so no secret can be read and kept in between.
    this.#keptKeys.clear()
    return this.#key(key.publicId)
  }

  #key(publicId: string): ApiKey {
    const row = this.#sql.byPublicId.get(publicId)
    if (row === null) throw new RangeError(`There is no API key ${publicId}.`)
    return this.#secrets.keyFrom(row)
  }

  #keyRows(by: KeyName): readonly ApiKeyRow[] {
    if ('publicId' in by) return this.#sql.byPublicId.all(by.publicId)
    if ('hash' in by) return this.#sql.byHash.all(by.hash)
    return this.#sql.byPrefix.all(by.prefix)
  }
}

function statements(database: Database) {
  const keys = 'SELECT * FROM api_keys WHERE'
  return {
    byPublicId: database.prepare<ApiKeyRow, [string]>(`${keys} public_id = ?`),
    byHash: database.prepare<ApiKeyRow, [Uint8Array]>(
      `${keys} hash = ?1 OR id = (SELECT api_key_id FROM api_key_secrets WHERE hash = ?1)`,
    ),
    // Reads all keys: only operators look for one, and rarely.
    byPrefix: database.prepare<ApiKeyRow, [string]>(
      `${keys} prefix = ?1 OR id IN (SELECT api_key_id FROM api_key_secrets WHERE prefix = ?1) ORDER BY id`,
    ),
    ofAccount: database.prepare<ApiKeyRow, [number]>(`${keys} account_id = ? ORDER BY id`),
    projectById: database.prepare<ProjectRow, [number]>('SELECT * FROM projects WHERE id = ?'),
    // The first name is kept from the first rename on.
    change: database.prepare(
      `UPDATE api_keys SET first_name = iif(name = $name, first_name, ifnull(first_name, name)), name = $name,
          revoked_at_ms = $revokedAtMs, disabled_at_ms = $disabledAtMs, settings = $settings
        WHERE id = $id`,
    ),
  } satisfies Record<string, Statement>
}
