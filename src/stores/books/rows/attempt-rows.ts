import { formatId } from '../../../domain/ids.ts'
import { compensating, type AttemptState } from '../../../domain/ledger/attempt.ts'
import { nanoUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { AttemptId, Attempts } from '../../../gateway/ports/ledger/attempts.ts'
import type { TextCharge } from '../../../gateway/ports/ledger/charge.ts'
import { attributionColumns, attributionFrom, type AttributionColumns } from './attribution-columns.ts'
import { nanoUsdOrNull, type ChargeBooking } from './charge-rows.ts'
import type { attemptsTable } from './work-tables.ts'
import type { NewRow } from './hashed-table.ts'
import type { Operation } from './operation-rows.ts'
import { tariffFrom } from './tariff-rows.ts'
import { usageColumns, usageFrom, UNKNOWN_USAGE, type UsageColumns } from './usage-columns.ts'

type NewAttempt = Parameters<Attempts['record']>[0]

const NOT_REPORTED = { usage: null, providerCost: null } as const

/** The row of a new attempt. `tariffId` is the row of its tariff. */
export function attemptRow(attempt: NewAttempt, tariffId: bigint | null): NewRow<typeof attemptsTable> {
  const { requestId, number, accountId, apiKeyId, route, model, provider, state, atMs } = attempt
  const { usage, providerCost } = attempt.state === 'abandoned' ? attempt : NOT_REPORTED
  return {
    request_key: requestId.key,
    request_tail: requestId.tail,
    number,
    account_id: accountId,
    api_key_id: apiKeyId,
    route,
    model,
    provider,
    state,
    ...(usage === null ? UNKNOWN_USAGE : usageColumns(usage)),
    tariff_id: tariffId,
    at_ms: atMs,
    provider_cost: providerCost,
    ...attributionColumns(attempt),
  }
}

/** A stored attempt with its tariff. */
export type AttemptRow = UsageColumns &
  AttributionColumns & {
    account_id: bigint
    api_key_id: bigint
    route: string
    model: string
    provider: string
    state: AttemptState
    content: string | null
    cost: bigint | null
    provider_cost: bigint | null
    is_clamped: bigint | null
  }

/** The charge of a late answer, and the two operations that charge it and give it back. */
export type Compensation = {
  readonly charge: TextCharge
  readonly booking: ChargeBooking
  readonly operations: readonly [Operation, Operation]
}

/**
 * Charges a billed attempt and gives the same amount back. Writes nothing for one that was compensated before. Throws a
 * RangeError for an attempt that is not billed, and for one whose request was charged.
 */
export function compensateAttempt(
  facts: {
    readonly row: AttemptRow
    readonly isCharged: boolean
    /** The row id that the next operation gets. */
    readonly nextOperationId: bigint
  },
  attempt: AttemptId,
  atMs: number,
): { readonly cost: NanoUsd; readonly write?: Compensation } {
  const { row } = facts
  const { requestId: id } = attempt
  if (row.cost === null) throw new RangeError(`The ${nameOfAttempt(attempt)} is ${row.state}.`)
  const cost = nanoUsd(row.cost)
  if (row.state === 'compensated') return { cost }
  if (facts.isCharged)
    throw new RangeError(`The request of the ${nameOfAttempt(attempt)} was charged before.`)
  const { charge, compensation } = compensating(cost)
  const operationId = cost === 0n ? null : facts.nextOperationId
  const write: Compensation = {
    charge: chargeOfAttempt(row, cost, atMs),
    booking: { id, shortfall: ZERO, operationId, isCompensated: true },
    operations: [
      { kind: 'charge', subject: id, movements: charge, atMs },
      { kind: 'compensation', subject: id, movements: compensation, atMs },
    ],
  }
  return { cost, write }
}

export function nameOfAttempt({ requestId, number }: AttemptId): string {
  return `attempt ${number} of ${formatId('req', requestId)}`
}

function chargeOfAttempt(row: AttemptRow, cost: NanoUsd, atMs: number): TextCharge {
  return {
    kind: 'text',
    route: row.route,
    apiKeyId: Number(row.api_key_id),
    model: row.model,
    provider: row.provider,
    providerCost: nanoUsdOrNull(row.provider_cost),
    usage: usageFrom(row),
    provenance: 'reported',
    isClamped: row.is_clamped === 1n,
    tariff: row.content === null ? null : tariffFrom(row.content),
    cost,
    atMs,
    ...attributionFrom(row),
  }
}
