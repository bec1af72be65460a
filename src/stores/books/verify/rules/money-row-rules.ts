import { formatId } from '../../../../domain/ids.ts'
import type { AttemptState } from '../../../../domain/ledger/attempt.ts'
import type { HoldState } from '../../../../domain/ledger/hold.ts'
import { describeUsd, nanoUsd } from '../../../../domain/money.ts'
import { priceOfRow } from '../../rows/tariff-rows.ts'
import type { UsageColumns } from '../../rows/usage-columns.ts'
import { findingOf, type Finding } from '../findings.ts'

/** A hold with the operations and the charge that name it. */
export type CheckedHold = {
  id: bigint
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  amount: bigint
  state: HoldState
  placing: string | null
  resolving: string | null
  cost: bigint | null
  /** 1 if its job is missing. */
  is_orphan: bigint
}

/** The kind of the operation that ends a hold in each state. */
const resolvingOf = {
  open: null,
  captured: 'capture',
  released: 'release',
  expired: 'expire',
} as const satisfies Record<HoldState, string | null>

/**
 * Each hold must have been placed once and have ended at most once, by operations of its own. The job of a hold must
 * exist. (An operation that names a hold which does not name it is found among the entries.)
 */
export function findingsOfHold(row: CheckedHold): readonly Finding[] {
  const problem = problemOfHold(row)
  if (problem === undefined) return []
  const id = formatId('hold', { key: row.id_key, tail: row.id_tail })
  return [findingOf(row.account_id, `${id} ${problem}`)]
}

function problemOfHold({
  amount,
  state,
  placing,
  resolving,
  cost,
  is_orphan,
}: CheckedHold): string | undefined {
  // A hold of zero moves nothing, so it has no operations.
  const moves = amount > 0n
  if (is_orphan === 1n) return `is of ${usd(amount)}, but its job is missing`
  if (placing !== (moves ? 'hold' : null)) return `was placed by ${operation(placing)}`
  if (resolving !== (moves ? resolvingOf[state] : null))
    return `is ${state}, but ${operation(resolving)} ended it`
  if (cost === null) return state === 'captured' ? 'is captured, but has no charge' : undefined
  if (state !== 'captured') return `is ${state}, but has a charge of ${usd(cost)}`
  return cost > amount ? `is of ${usd(amount)}, but was charged ${usd(cost)}` : undefined
}

function operation(kind: string | null): string {
  return kind === null ? 'no operation' : `an operation of the kind "${kind}"`
}

/** An attempt with its tariff, and what its charge and its compensation moved. */
export type CheckedAttempt = UsageColumns & {
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

/**
 * A compensated attempt must have one charge and one operation that credits the same amount; any other attempt must
 * have neither. (A compensation that names no such attempt is found among the entries.)
 */
export function findingsOfAttempt(row: CheckedAttempt): readonly Finding[] {
  const problem = problemOfAttempt(row)
  if (problem === undefined) return []
  const id = formatId('req', { key: row.request_key, tail: row.request_tail })
  return [findingOf(row.account_id, `attempt ${row.number} of ${id} ${problem}`)]
}

function problemOfAttempt(row: CheckedAttempt): string | undefined {
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

/** A correction with its operation and the charge that it refunds. */
export type CheckedCorrection = {
  id: bigint
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  charge_id: bigint | null
  operation: string | null
  cost: bigint | null
  /** The sum of all refunds of the charge, in the row of the latest one. Null in other rows. */
  refunded: bigint | null
  is_compensated: bigint
}

/**
 * Each correction must have an operation of its own account. A refund must have a charge of that account that was not
 * compensated, and all refunds of a charge together must not exceed its cost: the latest one of a charge is reported.
 * (An operation without its correction is found among the entries.)
 */
export function findingsOfCorrection(row: CheckedCorrection): readonly Finding[] {
  const problem = problemOfCorrection(row)
  if (problem === undefined) return []
  const id = formatId('op', { key: row.id_key, tail: row.id_tail })
  return [findingOf(row.account_id, `correction ${id} ${problem}`)]
}

function problemOfCorrection({
  charge_id,
  operation,
  cost,
  refunded,
  is_compensated,
}: CheckedCorrection): string | undefined {
  const kind = charge_id === null ? 'debit' : 'refund'
  if (operation !== kind) return `is a ${kind}, but has no operation of that kind`
  if (charge_id === null) return undefined
  if (cost === null) return `refunds a charge that the account does not have`
  if (refunded !== null && refunded > cost)
    return `refunds a charge of ${usd(cost)}, but the refunds of that charge add up to ${usd(refunded)}`
  return is_compensated === 1n ? 'refunds a charge that was compensated' : undefined
}

function usd(amount: bigint | null): string {
  return amount === null ? 'nothing' : describeUsd(nanoUsd(amount))
}
