import type { ApiKey } from '../../../domain/accounts/api-key.ts'
import type { NewEnd } from '../../../domain/accounts/key-secrets.ts'
import { secretEndsTable } from '../rows/access-tables.ts'
import {
  apiKeyFrom,
  type ApiKeyRow,
  type KeySecretRow,
  type RotationRows,
  type SecretEndRow,
} from '../rows/account-rows.ts'
import { all, insert, type Step } from '../steps.ts'
import { LIST_MAX, listOf } from '../value-lists.ts'

const NEVER_ROTATED: RotationRows = { secrets: [], ends: [] }

/** The keys of rows, with the secrets that rotations added to them. */
export function* keysFrom(rows: readonly ApiKeyRow[]): Step<readonly ApiKey[]> {
  const accounts = new Set(rows.map(({ account_id: accountId }) => accountId))
  if (accounts.size === 0) return []
  if (accounts.size > 1 && rows.length > LIST_MAX)
    return [...(yield* keysFrom(rows.slice(0, LIST_MAX))), ...(yield* keysFrom(rows.slice(LIST_MAX)))]
  // All keys of an account are read together.
  const keys = accounts.size === 1 && rows.length > 1 ? undefined : rows.map(({ id }) => id)
  const { secrets, ends } = yield* rotationsOf(accounts, keys)
  const secretsOf = Map.groupBy(secrets, row => row.api_key_id)
  const endsOf = Map.groupBy(ends, row => row.api_key_id)
  return rows.map(row =>
    apiKeyFrom(row, { secrets: secretsOf.get(row.id) ?? [], ends: endsOf.get(row.id) ?? [] }),
  )
}

/** Writes the ends of secrets of a key. */
export function* addEnds(
  { accountId, id }: Pick<ApiKey, 'accountId' | 'id'>,
  ends: readonly NewEnd[],
  atMs: number,
): Step<void> {
  for (const { number, endsAtMs } of ends)
    yield* insert(secretEndsTable, {
      account_id: accountId,
      api_key_id: id,
      secret: number,
      ends_at_ms: endsAtMs,
      at_ms: atMs,
    })
}

/** The rotations of some keys, or of all keys of the accounts. */
function* rotationsOf(accountIds: Iterable<bigint>, keyIds?: readonly bigint[]): Step<RotationRows> {
  const accounts = listOf(accountIds)
  const keys = keyIds && listOf(keyIds)
  const ofKeys = keys === undefined ? '' : `AND api_key_id IN ${keys.sql}`
  const where = `WHERE account_id IN ${accounts.sql} ${ofKeys} ORDER BY id`
  const values = [...accounts.values, ...(keys?.values ?? [])]
  const ends = yield* all<SecretEndRow>(
    `SELECT api_key_id, secret, ends_at_ms, at_ms FROM api_key_secret_ends ${where}`,
    ...values,
  )
  // Every rotation writes an end.
  if (ends.length === 0) return NEVER_ROTATED
  const secrets = yield* all<KeySecretRow>(
    `SELECT id, api_key_id, prefix, created_at_ms FROM api_key_secrets ${where}`,
    ...values,
  )
  return { secrets, ends }
}
