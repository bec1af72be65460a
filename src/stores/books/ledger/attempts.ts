import { mayBecome, type AttemptState } from '../../../domain/ledger/attempt.ts'
import type { Attempt, AttemptId, Attempts, Bill } from '../../../gateway/ports/ledger/attempts.ts'
import { attemptRow } from '../rows/attempt-rows.ts'
import { all, END_OF_WORK, first, insert, type StepRunner, type Step } from '../steps.ts'
import { usageColumns } from '../rows/usage-columns.ts'
import { attemptsTable } from '../rows/work-tables.ts'
import type { ChargeEffects } from './charges.ts'

const BY_ID = 'request_key = ? AND request_tail = ? AND number = ?'

type TariffId = ChargeEffects['tariffId']
type Parts = { readonly stepRunner: StepRunner; readonly chargeEffects: { readonly tariffId: TariffId } }

/** The attempts port of one node. */
export function createAttempts({ stepRunner, chargeEffects: { tariffId } }: Parts): Attempts {
  return {
    record: attempt => stepRunner.write('books', () => record(attempt, tariffId), END_OF_WORK),
    bill: (id, bill) =>
      stepRunner.write('books', () => change(id, 'billed', columnsOfBill(bill)), END_OF_WORK),
    close: id => stepRunner.write('books', () => change(id, 'closed'), END_OF_WORK),
    closeOlder: than => stepRunner.write('sweeps', () => closeOlder(than)),
    billed: limit => stepRunner.read(() => billed(limit)),
  }
}

function* record(attempt: Attempt, tariffId: TariffId): Step<void> {
  const { tariff } = attempt
  yield* insert(attemptsTable, attemptRow(attempt, tariff === null ? null : yield* tariffId(tariff)))
}

/** Moves an attempt by compare-and-set: of several callers, one changes it. Returns true for that one. */
function* change(
  id: AttemptId,
  next: AttemptState,
  columns: Readonly<Record<string, string | number | bigint | null>> = {},
): Step<boolean> {
  const row = yield* first<{ state: AttemptState }>(
    `SELECT state FROM attempts WHERE ${BY_ID}`,
    ...columnsOfId(id),
  )
  if (row === undefined || !mayBecome(row.state, next)) return false
  const after = { state: next, ...columns }
  const changed = yield* first(
    `UPDATE attempts SET ${Object.keys(after)
      .map(name => `${name} = ?`)
      .join(', ')}
      WHERE ${BY_ID} AND state = ? RETURNING id`,
    ...Object.values(after),
    ...columnsOfId(id),
    row.state,
  )
  return changed !== undefined
}

function columnsOfBill({ usage, cost, providerCost, isClamped }: Bill) {
  return { ...usageColumns(usage), cost, is_clamped: isClamped ? 1 : 0, provider_cost: providerCost }
}

function* closeOlder({ atMs, limit }: { readonly atMs: number; readonly limit: number }): Step<number> {
  const closed = yield* all(
    `UPDATE attempts SET state = 'closed' WHERE state = 'timed_out' AND id IN (
      SELECT id FROM attempts WHERE state = 'timed_out' AND at_ms < ? ORDER BY at_ms, id LIMIT ?) RETURNING id`,
    atMs,
    limit,
  )
  return closed.length
}

function* billed(limit: number): Step<readonly AttemptId[]> {
  const rows = yield* all<{ request_key: bigint; request_tail: bigint; number: bigint }>(
    `SELECT request_key, request_tail, number FROM attempts WHERE state = 'billed' ORDER BY at_ms, id LIMIT ?`,
    limit,
  )
  return rows.map(({ request_key: key, request_tail: tail, number }) => ({
    requestId: { key, tail },
    number: Number(number),
  }))
}

function columnsOfId({ requestId, number }: AttemptId): [bigint, bigint, number] {
  return [requestId.key, requestId.tail, number]
}
