import type { Database } from 'bun:sqlite'
import { formatId } from '../../../domain/ids.ts'
import type { AttemptState } from '../../../domain/ledger/attempt.ts'
import { describeUsd, nanoUsd } from '../../../domain/money.ts'
import type { UsageColumns } from '../../books/usage-columns.ts'
import type { AccountNames } from './account-names.ts'
import { priceOfRow } from './price-of-row.ts'
import type { Finding } from './finding.ts'
import { inPieces } from './in-pieces.ts'

const ATTEMPTS_A_TURN = 128

/**
 * A compensated attempt must have one charge and one operation that credits the same amount; any other attempt must
 * have neither. (A compensation that names no such attempt is found among the entries.)
 */
export function* checkAttempts(database: Database, names: AccountNames): Generator<readonly Finding[]> {
  const select = database.prepare<CheckedAttempt, [bigint, number]>(
    `SELECT attempts.*, content,
        (SELECT cost FROM charges WHERE id_key = request_key AND id_tail = request_tail
          AND charges.account_id = attempts.account_id) AS charged,
        (SELECT amount FROM operations WHERE operations.id = compensated_by AND kind = 'compensation'
          AND subject_key = request_key AND subject_tail = request_tail
          AND operations.account_id = attempts.account_id) AS credited
      FROM attempts LEFT JOIN tariffs ON tariffs.id = tariff_id
      WHERE attempts.id > ? ORDER BY attempts.id LIMIT ?`,
  )
  for (const rows of inPieces(select, ATTEMPTS_A_TURN, row => row.id)) {
    yield rows.flatMap(row => findingsOf(row, names))
  }
}

type CheckedAttempt = UsageColumns & {
  id: bigint
  request_key: bigint
  request_tail: bigint
  number: bigint
  account_id: bigint
  state: AttemptState
  content: string | null
  cost: bigint | null
  compensated_by: bigint | null
  charged: bigint | null
  credited: bigint | null
}

function findingsOf(row: CheckedAttempt, names: AccountNames): readonly Finding[] {
  const problem = problemOf(row)
  if (problem === undefined) return []
  const id = formatId('req', { key: row.request_key, tail: row.request_tail })
  const message = `${names.of(row.account_id)}: attempt ${row.number} of ${id} ${problem}.`
  return [{ accountId: row.account_id, entryId: null, message }]
}

function problemOf(row: CheckedAttempt): string | undefined {
  const { state, cost, charged, compensated_by, credited } = row
  if (cost !== null && row.content !== null) {
    const price = priceOfRow(row, row.content)
    if (price === null) return 'has a tariff whose prices cannot be read'
    if (price !== cost)
      return `costs ${usd(cost)}, but its usage costs ${describeUsd(price)} at the stored prices`
  }
  if (state !== 'compensated') {
    if (compensated_by !== null) return `is ${state}, but has operation ${compensated_by}`
    // The request of an abandoned attempt was charged for the answer of another one.
    return charged !== null && state !== 'abandoned'
      ? `is ${state}, but was charged ${usd(charged)}`
      : undefined
  }
  if (charged !== cost) return `costs ${usd(cost)}, but was charged ${usd(charged)}`
  // A cost of zero moves nothing.
  const due = cost === 0n ? null : cost
  return credited === due ? undefined : `costs ${usd(cost)}, but ${usd(credited)} was credited back`
}

function usd(amount: bigint | null): string {
  return amount === null ? 'nothing' : describeUsd(nanoUsd(amount))
}
