import type { Authenticated } from '../../../gateway/ports/access/api-keys.ts'
import {
  accountFrom,
  projectFrom,
  type AccountRow,
  type ApiKeyRow,
  type ProjectRow,
} from '../rows/account-rows.ts'
import { all, type Step } from '../steps.ts'
import { listOf } from '../value-lists.ts'
import { keysFrom } from './key-secrets.ts'

/** Keys in use that are kept by their hash, at about 500 bytes each. */
const KEYS_KEPT_MAX = 100_000

/**
 * The keys in use by the hashes of their secrets in base64. Only keys that exist are kept: an unknown one costs a read
 * of two indexes, and a flood of them takes no memory.
 */
export class KeptKeys {
  readonly #kept = new Map<string, Authenticated>()
  #generation = 0

  /** Grows each time that the keys are forgotten. */
  get generation(): number {
    return this.#generation
  }

  find(hash: string): Authenticated | undefined {
    return this.#kept.get(hash)
  }

  /** Keeps a key that was read in a generation. A read that began before a change may have missed it. */
  keep(hash: string, authenticated: Authenticated, generation: number): void {
    if (generation !== this.#generation) return
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < KEYS_KEPT_MAX) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(hash, authenticated)
  }

  forget(): void {
    this.#kept.clear()
    this.#generation += 1
  }
}

/** A key that a hash belongs to. */
export type PresentedKey = { readonly hash: Uint8Array; readonly authenticated: Authenticated }

/** A key with the number of its secret that has a hash. */
type PresentedRow = ApiKeyRow & { presented: Uint8Array; secret: bigint }

/** The keys that have secrets with these hashes, and are not revoked; at most `LIST_MAX`. */
export function* presentedKeys(hashes: readonly Uint8Array[]): Step<readonly PresentedKey[]> {
  const asked = listOf(hashes)
  const rows = yield* all<PresentedRow>(
    `SELECT api_keys.*, hash AS presented, 0 AS secret FROM api_keys
        WHERE hash IN ${asked.sql} AND revoked_at_ms IS NULL
      UNION ALL SELECT api_keys.*, api_key_secrets.hash AS presented, api_key_secrets.id AS secret FROM api_key_secrets
        JOIN api_keys ON api_keys.id = api_key_id
        WHERE api_key_secrets.hash IN ${asked.sql} AND revoked_at_ms IS NULL`,
    ...asked.values,
    ...asked.values,
  )
  const accounts = yield* rowsById<AccountRow>(
    'accounts',
    rows.map(row => row.account_id),
  )
  const projects = yield* rowsById<ProjectRow>(
    'projects',
    rows.flatMap(row => row.project_id ?? []),
  )
  const keys = yield* keysFrom(rows)
  return keys.flatMap((apiKey, index) => {
    const row = rows[index]
    const account = row && accounts.get(row.account_id)
    if (row === undefined || account === undefined) return []
    const project = row.project_id === null ? undefined : projects.get(row.project_id)
    const secretEnd = apiKey.secrets.find(({ number }) => number === Number(row.secret))?.end ?? undefined
    const authenticated = {
      account: accountFrom(account),
      apiKey,
      ...(project !== undefined && { project: projectFrom(project) }),
      ...(secretEnd === undefined ? {} : { secretEnd }),
    }
    return { hash: row.presented, authenticated }
  })
}

function* rowsById<Row extends { readonly id: bigint }>(
  table: 'accounts' | 'projects',
  ids: readonly bigint[],
): Step<ReadonlyMap<bigint, Row>> {
  const unique = new Set(ids)
  if (unique.size === 0) return new Map()
  const asked = listOf(unique)
  const rows = yield* all<Row>(`SELECT * FROM ${table} WHERE id IN ${asked.sql}`, ...asked.values)
  return new Map(rows.map(row => [row.id, row]))
}
