import type { StepRunner } from '../steps.ts'
import type { Finding } from './findings.ts'
import { inPieces } from './in-pieces.ts'
import { ATTEMPTS, CORRECTIONS, HOLDS } from './money-queries.ts'
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
    select: `${HOLDS} WHERE holds.id > ? ORDER BY holds.id LIMIT ?`,
    rowsMax: HOLDS_A_PIECE,
    rowIdOf: ({ id }) => id,
  })
  for await (const rows of pieces) yield rows.flatMap(findingsOfHold)
}

export async function* checkAttempts(read: StepRunner['read']): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<CheckedAttempt>(read, {
    select: `${ATTEMPTS} WHERE attempts.id > ? ORDER BY attempts.id LIMIT ?`,
    rowsMax: ATTEMPTS_A_PIECE,
    rowIdOf: ({ id }) => id,
  })
  for await (const rows of pieces) yield rows.flatMap(findingsOfAttempt)
}

export async function* checkCorrections(read: StepRunner['read']): AsyncGenerator<readonly Finding[]> {
  const pieces = inPieces<CheckedCorrection>(read, {
    select: `${CORRECTIONS} WHERE corrections.id > ? ORDER BY corrections.id LIMIT ?`,
    rowsMax: CORRECTIONS_A_PIECE,
    rowIdOf: ({ id }) => id,
  })
  for await (const rows of pieces) yield rows.flatMap(findingsOfCorrection)
}
