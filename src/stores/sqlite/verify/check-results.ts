import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobKind, type StoredFile } from '../../../domain/jobs/job.ts'
import { describeUsd, formatUsd, nanoUsd } from '../../../domain/money.ts'
import { BlobsUnavailableError, type Blobs } from '../../../gateway/ports/blobs.ts'
import type { Finding, Message } from '../../books/verify/findings.ts'
import { inPieces } from './in-pieces.ts'

const JOBS_A_TURN = 32

/**
 * Each file of a completed job must be stored with the size and the SHA-256 that the job names, until it is archived. A
 * damaged file does not make the books wrong, so it stops no paid work. If the files are out of reach, the rest of them
 * is not checked: none of them is known to be damaged.
 */
export async function* checkResults(
  database: Database,
  blobs: Pick<Blobs, 'damageOf'>,
): AsyncGenerator<readonly Finding[]> {
  const select = database.prepare<PaidRow, [bigint, number]>(
    `SELECT row_id, kind, id_key, id_tail, account_id, cost, outputs FROM jobs
      WHERE state = 'completed' AND archived_at_ms IS NULL AND row_id > ? ORDER BY row_id LIMIT ?`,
  )
  const isStored = database.prepare<unknown, [bigint, string | null]>(
    'SELECT 1 FROM jobs WHERE row_id = ? AND outputs IS ? AND archived_at_ms IS NULL',
  )
  const selectRefunded = database.prepare<{ refunded: bigint }, [bigint]>(
    `SELECT ifnull(sum(amount), 0) AS refunded FROM corrections WHERE charge_id =
      (SELECT charges.id FROM jobs JOIN charges USING (id_key, id_tail) WHERE row_id = ?)`,
  )
  const parts = { blobs, isStored, selectRefunded }
  for (const rows of inPieces(select, JOBS_A_TURN, row => row.row_id)) {
    for (const row of rows) {
      const findings = await findingsOf(row, parts).catch(unchecked)
      yield Array.isArray(findings) ? findings : [findings]
      if (!Array.isArray(findings)) return
    }
  }
}

/** The problem that results cannot be reached. Throws any other error. */
function unchecked(error: unknown): Finding {
  if (!(error instanceof BlobsUnavailableError)) throw error
  const message = [`The stored results could not all be checked. ${error.message} Run verify again later.`]
  return { accountId: null, entryId: null, message, stopsNothing: true, key: ['results unavailable'] }
}

type PaidRow = {
  row_id: bigint
  kind: JobKind
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  cost: bigint
  outputs: string | null
}

type Parts = {
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
  const fact: Message = [{ job: row.row_id }, ` has damaged stored files: ${damages}.`]
  const message = [...fact, ` ${adviceFor(row, parts)}`]
  const key = ['results ', ...fact]
  return [{ accountId: row.account_id, entryId: null, message, stopsNothing: true, key }]
}

function adviceFor({ row_id: rowId, cost, ...job }: PaidRow, { selectRefunded }: Parts): string {
  if (cost === 0n) return 'Nothing was charged for it.'
  const left = nanoUsd(cost - (selectRefunded.get(rowId)?.refunded ?? 0n))
  if (left <= 0n) return 'Its charge was refunded.'
  const id = formatId(jobIdPrefix[job.kind], { key: job.id_key, tail: job.id_tail })
  const command = `tollgate refund ${id}`
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
