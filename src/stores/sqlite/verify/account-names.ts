import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobKind } from '../../../domain/jobs/job.ts'
import type { Names } from '../../books/verify/findings.ts'

/** Names accounts and their jobs in messages for the operator: `Account "ada" (acct_…)`. */
export class AccountNames implements Names {
  readonly #select: Statement<{ name: string; public_id: string }, [bigint]>
  readonly #selectJob: Statement<NamedJob, [bigint]>

  constructor(database: Database) {
    this.#select = database.prepare('SELECT name, public_id FROM accounts WHERE id = ?')
    this.#selectJob = database.prepare('SELECT account_id, kind, id_key, id_tail FROM jobs WHERE row_id = ?')
  }

  ofAccount(accountId: bigint | number): string {
    const row = this.#select.get(BigInt(accountId))
    return row === null ? `Account ${accountId} (deleted)` : `Account "${row.name}" (${row.public_id})`
  }

  /** Null if there is no such job. */
  accountOfJob(rowId: bigint): bigint | null {
    return this.#selectJob.get(rowId)?.account_id ?? null
  }

  /** `Account "ada" (acct_…): job img_…`, by the row of the job. */
  ofJob(rowId: bigint): string {
    const row = this.#selectJob.get(rowId)
    if (row === null) return `Job ${rowId} (deleted)`
    const id = formatId(jobIdPrefix[row.kind], { key: row.id_key, tail: row.id_tail })
    return `${this.ofAccount(row.account_id)}: job ${id}`
  }
}

type NamedJob = { account_id: bigint; kind: JobKind; id_key: bigint; id_tail: bigint }
