import type { Database, Statement } from 'bun:sqlite'
import type { Authenticated } from '../../gateway/ports/api-keys.ts'
import {
  accountFrom,
  projectFrom,
  type AccountRow,
  type ApiKeyRow,
  type ProjectRow,
} from '../books/account-rows.ts'
import { KeySecretRows } from './key-secrets.ts'

/** Keys in use that are kept by their hash, at about 500 bytes each. */
const KEYS_KEPT_MAX = 100_000

/** A key, and the number of its secret with a hash. */
type PresentedRow = ApiKeyRow & { secret: bigint }

/**
 * The keys in use by the hashes of their secrets in base64, which all nodes of a store share. Only keys that exist are
 * kept: an unknown one costs a read of two indexes, and a flood of them takes no memory.
 */
export class ApiKeyCache {
  readonly #keyByHash: Statement<PresentedRow, [Uint8Array]>
  readonly #secrets: KeySecretRows
  readonly #accountById: Statement<AccountRow, [bigint]>
  readonly #projectById: Statement<ProjectRow, [bigint]>
  readonly #kept = new Map<string, Authenticated>()

  constructor(database: Database) {
    this.#keyByHash = database.prepare(
      `SELECT api_keys.*, 0 AS secret FROM api_keys WHERE hash = ?1 AND revoked_at_ms IS NULL
        UNION ALL SELECT api_keys.*, api_key_secrets.id AS secret FROM api_key_secrets
          JOIN api_keys ON api_keys.id = api_key_id WHERE api_key_secrets.hash = ?1 AND revoked_at_ms IS NULL`,
    )
    this.#secrets = new KeySecretRows(database)
    this.#accountById = database.prepare('SELECT * FROM accounts WHERE id = ?')
    this.#projectById = database.prepare('SELECT * FROM projects WHERE id = ?')
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
    const project = key.project_id === null ? null : this.#projectById.get(key.project_id)
    const apiKey = this.#secrets.keyFrom(key)
    const presented = apiKey.secrets.find(({ number }) => number === Number(key.secret))
    const secretEnd = presented?.end ?? undefined
    const authenticated = {
      account: accountFrom(account),
      apiKey,
      ...(project !== null && { project: projectFrom(project) }),
      ...(secretEnd === undefined ? {} : { secretEnd }),
    }
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < KEYS_KEPT_MAX) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(hash, authenticated)
    return authenticated
  }
}
