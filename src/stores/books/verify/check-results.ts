import { formatId } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobKind, type StoredFile } from '../../../domain/jobs/job.ts'
import { describeUsd, formatUsd, nanoUsd } from '../../../domain/money.ts'
import { BlobsUnavailableError, type Blobs } from '../../../gateway/ports/media/blobs.ts'
import { first, type StepRunner } from '../steps.ts'
import type { Finding, Message } from './findings.ts'
import { inPieces } from './in-pieces.ts'

const JOBS_A_PIECE = 32

/**
 * Each file of a completed job must be stored with the size and the SHA-256 that the job names, until it is archived. A
 * damaged file does not make the books wrong, so it stops no paid work. If the files are out of reach, the rest of them
 * is not checked: none of them is known to be damaged.
 */
export async function* checkResults(
  read: StepRunner['read'],
  blobs: Pick<Blobs, 'damageOf'>,
): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<PaidRow>(read, { select: PAID, rowsMax: JOBS_A_PIECE, rowIdOf: row => row.row_id })
  for await (const rows of pieces) {
    for (const row of rows) {
      const findings = await findingsOf(row, { read, blobs }).catch(unchecked)
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

/** The condition of a job whose files must still be stored. */
type PaidNow = {
  /** The sum of the refunds of its charge. */
  refunded: bigint
}

type Parts = { readonly read: StepRunner['read']; readonly blobs: Pick<Blobs, 'damageOf'> }

async function findingsOf(row: PaidRow, { read, blobs }: Parts): Promise<readonly Finding[]> {
  const damages = await damagesOf(row, blobs)
  if (damages === '') return []
  // The job may have been archived while its files were read.
  const now = await read(() => first<PaidNow>(PAID_NOW, row.row_id, row.outputs))
  if (now === undefined) return []
  const fact: Message = [{ job: row.row_id }, ` has damaged stored files: ${damages}.`]
  const message = [...fact, ` ${adviceFor(row, now)}`]
  const key = ['results ', ...fact]
  return [{ accountId: row.account_id, entryId: null, message, stopsNothing: true, key }]
}

function adviceFor({ cost, ...job }: PaidRow, { refunded }: PaidNow): string {
  if (cost === 0n) return 'Nothing was charged for it.'
  const left = nanoUsd(cost - refunded)
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

const PAID = `SELECT row_id, kind, id_key, id_tail, account_id, cost, outputs FROM jobs
  WHERE state = 'completed' AND archived_at_ms IS NULL AND row_id > ? ORDER BY row_id LIMIT ?`

const PAID_NOW = `SELECT (
    SELECT CAST(coalesce(sum(amount), 0) AS bigint) FROM corrections JOIN charges ON charges.id = charge_id
      WHERE charges.id_key = jobs.id_key AND charges.id_tail = jobs.id_tail
  ) AS refunded
  FROM jobs WHERE row_id = ? AND outputs IS NOT DISTINCT FROM CAST(? AS text) AND archived_at_ms IS NULL`
