import type { Database, Statement } from 'bun:sqlite'
import type { StoredFile } from '../../../domain/jobs/job.ts'
import { describeUsd, formatUsd, nanoUsd } from '../../../domain/money.ts'
import type { Blobs } from '../../../gateway/ports/blobs.ts'
import type { AccountNames } from './account-names.ts'
import type { Finding } from './finding.ts'
import { inPieces } from './in-pieces.ts'

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
  const isStored = database.prepare<unknown, [bigint, string | null]>(
    'SELECT 1 FROM jobs WHERE row_id = ? AND outputs IS ? AND archived_at_ms IS NULL',
  )
  const selectRefunded = database.prepare<{ refunded: bigint }, [bigint]>(
    `SELECT ifnull(sum(amount), 0) AS refunded FROM corrections WHERE charge_id =
      (SELECT charges.id FROM jobs JOIN charges USING (id_key, id_tail) WHERE row_id = ?)`,
  )
  const parts = { names, blobs, isStored, selectRefunded }
  for (const rows of inPieces(select, JOBS_A_TURN, row => row.row_id)) {
    for (const row of rows) yield await findingsOf(row, parts)
  }
}

type PaidRow = { row_id: bigint; account_id: bigint; cost: bigint; outputs: string | null }

type Parts = {
  readonly names: AccountNames
  readonly blobs: Pick<Blobs, 'damageOf'>
  /** Finds the row again, if its files must still be stored. */
  readonly isStored: Statement<unknown, [bigint, string | null]>
  /** The sum of the refunds of the job's charge. */
  readonly selectRefunded: Statement<{ refunded: bigint }, [bigint]>
}

async function findingsOf(row: PaidRow, parts: Parts): Promise<readonly Finding[]> {
  const damages = await damagesOf(row, parts.blobs)
  // The job may have been archived while its files were read.
  if (damages === '' || parts.isStored.get(row.row_id, row.outputs) === null) return []
  const fact = `${parts.names.ofJob(row.row_id)} has damaged stored files: ${damages}.`
  const message = `${fact} ${adviceFor(row, parts)}`
  return [{ accountId: row.account_id, entryId: null, message, stopsNothing: true, key: `results ${fact}` }]
}

function adviceFor({ row_id: rowId, cost }: PaidRow, { names, selectRefunded }: Parts): string {
  if (cost === 0n) return 'Nothing was charged for it.'
  const left = nanoUsd(cost - (selectRefunded.get(rowId)?.refunded ?? 0n))
  if (left <= 0n) return 'Its charge was refunded.'
  const command = `tollgate refund ${names.idOfJob(rowId)}`
  const refund =
    left === cost
      ? `the charge of ${describeUsd(left)} with "${command}"`
      : `the ${describeUsd(left)} that are left of its charge with "${command} --amount ${formatUsd(left)}"`
  return `Put them back from a backup, or refund ${refund}.`
}

/** The damaged files, each with its damage. */
async function damagesOf({ outputs }: PaidRow, blobs: Parts['blobs']): Promise<string> {
  const files = filesIn(outputs)
  if (files === undefined) return 'the list of them cannot be read'
  const damages: string[] = []
  for (const file of files) {
    const damage = await blobs.damageOf(file)
    if (damage !== undefined) damages.push(`${file.key} (${damage})`)
  }
  return damages.join(', ')
}

/** Undefined for a list that another program made unreadable. */
function filesIn(outputs: string | null): readonly StoredFile[] | undefined {
  try {
    const files: unknown = JSON.parse(outputs ?? '')
    return Array.isArray(files) && files.every(isFile) ? files : undefined
  } catch {
    return undefined
  }
}

function isFile(value: unknown): value is StoredFile {
  return typeof value === 'object' && value !== null && 'key' in value
}
