import type { Database, Statement } from 'bun:sqlite'
import type { Authenticated } from '../../gateway/ports/accounts.ts'
import { accountFrom, apiKeyFrom, type AccountRow, type ApiKeyRow } from './account-rows.ts'

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
