import type { Database, Statement } from 'bun:sqlite'
import type { StoredFile } from '../../../domain/jobs/job.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { Blobs } from '../../../gateway/ports/blobs.ts'
import type { AccountNames } from './account-names.ts'
import type { Finding } from './finding.ts'

const JOBS_A_TURN = 32

/**
 * Each file of a completed job must be stored with the size and the SHA-256 that the job names, until it is archived. A
 * damaged file does not make the books wrong, so it stops no paid work.
 */
export async function* checkResults(
  database: Database,
  names: AccountNames,
  blobs: Pick<Blobs, 'damageOf'>,
): AsyncGenerator<readonly Finding[]> {
  const select = database.prepare<PaidRow, [bigint, number]>(
    `SELECT row_id, account_id, cost, outputs FROM jobs
      WHERE state = 'completed' AND archived_at_ms IS NULL AND row_id > ? ORDER BY row_id LIMIT ?`,
  )
  const isStored = database.prepare<unknown, [bigint, string]>(
    'SELECT 1 FROM jobs WHERE row_id = ? AND outputs = ? AND archived_at_ms IS NULL',
  )
  let last = -1n
  for (;;) {
    const rows = select.all(last, JOBS_A_TURN)
    for (const row of rows) yield await findingsOf(row, { names, blobs, isStored })
    last = rows.at(-1)?.row_id ?? last
    if (rows.length < JOBS_A_TURN) return
  }
}

type PaidRow = { row_id: bigint; account_id: bigint; cost: bigint; outputs: string }

type Parts = {
  readonly names: AccountNames
  readonly blobs: Pick<Blobs, 'damageOf'>
  /** Finds the row again, if its files must still be stored. */
  readonly isStored: Statement<unknown, [bigint, string]>
}

async function findingsOf(row: PaidRow, { names, blobs, isStored }: Parts): Promise<readonly Finding[]> {
  const damages = await damagesOf(row, blobs)
  // The job may have been archived while its files were read.
  if (damages === '' || isStored.get(row.row_id, row.outputs) === null) return []
  const advice =
    row.cost === 0n
      ? 'Nothing was charged for it.'
      : `Put them back from a backup, or refund the charge of ${describeUsd(nanoUsd(row.cost))} with "tollgate refund ${names.idOfJob(row.row_id)}".`
  const message = `${names.ofJob(row.row_id)} has damaged stored files: ${damages}. ${advice}`
  return [{ accountId: row.account_id, entryId: null, message, stopsNothing: true }]
}

/** The damaged files, each with its damage. */
async function damagesOf({ outputs }: PaidRow, blobs: Parts['blobs']): Promise<string> {
  let files: readonly StoredFile[]
  try {
    files = JSON.parse(outputs) as StoredFile[]
  } catch {
    return 'the list of them cannot be read'
  }
  const damages: string[] = []
  for (const file of files) {
    const damage = await blobs.damageOf(file)
    if (damage !== undefined) damages.push(`${file.key} (${damage})`)
  }
  return damages.join(', ')
}
