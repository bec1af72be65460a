import type { Database, Statement } from 'bun:sqlite'
import type { ApiKey } from '../../domain/accounts/api-key.ts'
import type { NewEnd } from '../../domain/accounts/key-secrets.ts'
import {
  apiKeyFrom,
  type ApiKeyRow,
  type KeySecretRow,
  type RotationRows,
  type SecretEndRow,
} from '../books/account-rows.ts'
import type { Tables } from './hashed-table.ts'

const NEVER_ROTATED: RotationRows = { secrets: [], ends: [] }

/** Reads and writes the secrets that rotations added to keys, and the ends of secrets. */
export class KeySecretRows {
  readonly #sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.#sql = statements(database)
  }

  /** The keys of rows, with their secrets. Rows of one account are read together. */
  keysFrom(rows: readonly ApiKeyRow[]): readonly ApiKey[] {
    const [first] = rows
    if (first === undefined) return []
    const ofOneAccount = rows.length > 1 && rows.every(({ account_id: id }) => id === first.account_id)
    if (!ofOneAccount) return rows.map(row => this.keyFrom(row))
    const { secrets, ends } = this.#rows(first.account_id, null)
    const secretsOf = Map.groupBy(secrets, row => row.api_key_id)
    const endsOf = Map.groupBy(ends, row => row.api_key_id)
    return rows.map(row =>
      apiKeyFrom(row, { secrets: secretsOf.get(row.id) ?? [], ends: endsOf.get(row.id) ?? [] }),
    )
  }

  keyFrom(row: ApiKeyRow): ApiKey {
    return apiKeyFrom(row, this.#rows(row.account_id, row.id))
  }

  /** Inside a step. */
  addEnds(
    { accountId, id }: Pick<ApiKey, 'accountId' | 'id'>,
    ends: readonly NewEnd[],
    { tables, atMs }: { readonly tables: Tables; readonly atMs: number },
  ): void {
    for (const { number, endsAtMs } of ends)
      tables.secretEnds.insert({
        account_id: accountId,
        api_key_id: id,
        secret: number,
        ends_at_ms: endsAtMs,
        at_ms: atMs,
      })
  }

  #rows(accountId: bigint, apiKeyId: bigint | null): RotationRows {
    const ends = this.#sql.ends.all(accountId, apiKeyId)
    // Every rotation writes an end.
    if (ends.length === 0) return NEVER_ROTATED
    return { secrets: this.#sql.secrets.all(accountId, apiKeyId), ends }
  }
}

function statements(database: Database) {
  const ofKeys = 'WHERE account_id = ?1 AND (?2 IS NULL OR api_key_id = ?2) ORDER BY id'
  return {
    secrets: database.prepare<KeySecretRow, [bigint, bigint | null]>(
      `SELECT id, api_key_id, prefix, created_at_ms FROM api_key_secrets ${ofKeys}`,
    ),
    ends: database.prepare<SecretEndRow, [bigint, bigint | null]>(
      `SELECT api_key_id, secret, ends_at_ms, at_ms FROM api_key_secret_ends ${ofKeys}`,
    ),
  } satisfies Record<string, Statement>
}
