import type { Database, Statement } from 'bun:sqlite'

/** How long an idempotency key of a media request is kept. */
export const KEY_TTL_MS = 86_400_000
/** Old keys removed with each new one, so that the table does not grow. */
const REMOVED_MAX = 8

/** The idempotency keys of media requests, each with the job it made. Its methods are for use inside a step. */
export class JobKeys {
  readonly #find: Statement<KeyRow, [number, string, number]>
  readonly #insert: Statement
  readonly #remove: Statement

  constructor(database: Database) {
    this.#find = database.prepare(
      `SELECT fingerprint, job, (SELECT jobs.account_id FROM jobs WHERE row_id = job) AS owner
        FROM job_keys WHERE account_id = ? AND key = ? AND created_at_ms > ?`,
    )
    this.#insert = database.prepare(
      'INSERT OR REPLACE INTO job_keys (account_id, key, fingerprint, job, created_at_ms) VALUES (?, ?, ?, ?, ?)',
    )
    this.#remove = database.prepare(
      `DELETE FROM job_keys WHERE (account_id, key) IN (
        SELECT account_id, key FROM job_keys WHERE created_at_ms <= ? ORDER BY created_at_ms LIMIT ${REMOVED_MAX})`,
    )
  }

  /** Throws an Error if the row names the job of another account, which only an edit of the file can cause. */
  find(accountId: number, key: string, nowMs: number): KeyRow | undefined {
    const row = this.#find.get(accountId, key, nowMs - KEY_TTL_MS)
    if (row !== null && row.owner !== BigInt(accountId))
      throw new Error(
        `The idempotency key "${key}" names the job in row ${row.job}, which belongs to another account.`,
      )
    return row ?? undefined
  }

  insert(
    accountId: number,
    { key, fingerprint }: { readonly key: string; readonly fingerprint: string },
    { job, atMs }: { readonly job: bigint; readonly atMs: number },
  ): void {
    this.#remove.run(atMs - KEY_TTL_MS)
    this.#insert.run(accountId, key, fingerprint, job, atMs)
  }
}

type KeyRow = {
  readonly fingerprint: string
  readonly job: bigint
  /** The account of the job. */
  readonly owner: bigint | null
}
