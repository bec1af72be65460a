import type { StepRunner } from '../steps.ts'
import type { Finding } from './findings.ts'
import { inPieces } from './in-pieces.ts'
import {
  findingsOfAttempt,
  findingsOfCorrection,
  findingsOfHold,
  type CheckedAttempt,
  type CheckedCorrection,
  type CheckedHold,
} from './rules/money-row-rules.ts'

const HOLDS_A_PIECE = 256
const ATTEMPTS_A_PIECE = 128
const CORRECTIONS_A_PIECE = 256

export async function* checkHolds(read: StepRunner['read']): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<CheckedHold>(read, {
    select: HOLDS,
    rowsMax: HOLDS_A_PIECE,
    rowIdOf: ({ id }) => id,
  })
  for await (const rows of pieces) yield rows.flatMap(findingsOfHold)
}

export async function* checkAttempts(read: StepRunner['read']): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<CheckedAttempt>(read, {
    select: ATTEMPTS,
    rowsMax: ATTEMPTS_A_PIECE,
    rowIdOf: ({ id }) => id,
  })
  for await (const rows of pieces) yield rows.flatMap(findingsOfAttempt)
}

export async function* checkCorrections(read: StepRunner['read']): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<CheckedCorrection>(read, {
    select: CORRECTIONS,
    rowsMax: CORRECTIONS_A_PIECE,
    rowIdOf: ({ id }) => id,
  })
  for await (const rows of pieces) yield rows.flatMap(findingsOfCorrection)
}

const HOLDS = `SELECT holds.id, holds.id_key, holds.id_tail, holds.account_id, holds.amount, state,
    (SELECT kind FROM operations WHERE operations.id = placed_by
      AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS placing,
    (SELECT kind FROM operations WHERE operations.id = resolved_by
      AND subject_key = holds.id_key AND subject_tail = holds.id_tail) AS resolving,
    (SELECT cost FROM charges WHERE charges.id_key = holds.id_key AND charges.id_tail = holds.id_tail) AS cost,
    job_key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id_key = job_key AND jobs.id_tail = job_tail
      AND jobs.account_id = holds.account_id) AS is_orphan
  FROM holds WHERE holds.id > ? ORDER BY holds.id LIMIT ?`

const ATTEMPTS = `SELECT attempts.*, content,
    (SELECT cost FROM charges WHERE id_key = request_key AND id_tail = request_tail
      AND charges.account_id = attempts.account_id) AS charged,
    (SELECT amount FROM operations WHERE operations.id = compensated_by AND kind = 'compensation'
      AND subject_key = request_key AND subject_tail = request_tail
      AND operations.account_id = attempts.account_id) AS credited
  FROM attempts LEFT JOIN tariffs ON tariffs.id = tariff_id
  WHERE attempts.id > ? ORDER BY attempts.id LIMIT ?`

const CORRECTIONS = `SELECT corrections.id, id_key, id_tail, account_id, charge_id,
    (SELECT kind FROM operations WHERE operations.id = operation_id AND subject_key = id_key AND subject_tail = id_tail
      AND operations.account_id = corrections.account_id) AS operation,
    (SELECT cost FROM charges WHERE charges.id = charge_id AND charges.account_id = corrections.account_id LIMIT 1) AS cost,
    CASE WHEN NOT EXISTS (SELECT 1 FROM corrections AS later
        WHERE later.charge_id = corrections.charge_id AND later.id > corrections.id)
      THEN (SELECT CAST(sum(every.amount) AS bigint) FROM corrections AS every
          WHERE every.charge_id = corrections.charge_id)
    END AS refunded,
    EXISTS (SELECT 1 FROM charges JOIN attempts ON request_key = charges.id_key AND request_tail = charges.id_tail
      WHERE charges.id = charge_id AND state = 'compensated') AS is_compensated
  FROM corrections WHERE corrections.id > ? ORDER BY corrections.id LIMIT ?`
