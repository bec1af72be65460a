import { closedRefusal } from '../../../domain/accounts/account.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { formatId } from '../../../domain/ids.ts'
import type { HoldKind } from '../../../domain/ledger/books.ts'
import { debiting, refunding } from '../../../domain/ledger/correction.ts'
import { addUsd, nanoUsd, subtractUsd } from '../../../domain/money.ts'
import type { Correction, Debit, Refund } from '../../../gateway/ports/ledger/ledger.ts'
import type { correctionsTable } from './money-tables.ts'
import type { NewRow } from './hashed-table.ts'
import type { AccountState, Operation } from './operation-rows.ts'

/** The columns of an earlier correction that a repeat is compared with. */
export type CorrectionRow = {
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  charge_id: bigint | null
  amount: bigint
  available_after: bigint
}

/** The charge of a refund, with the sum of its refunds. */
export type RefundableRow = {
  id: bigint
  account_id: bigint
  cost: bigint
  kind: HoldKind
  refunded: bigint
  is_compensated: bigint
}

/** The values that a repeat must share with the first correction. `chargeId` is the row of the charge. */
export type CorrectionTerms = {
  readonly accountId: number
  readonly amount: bigint
  readonly chargeId: bigint | null
}

/** The first correction with the id or the idempotency key of a request. Undefined if it is not a repeat. */
export function repeatedCorrection(
  earlier: { readonly byId: CorrectionRow | null; readonly byKey: CorrectionRow | null },
  { id }: Pick<Debit, 'id'>,
  terms: CorrectionTerms,
): Correction | undefined {
  const { byId, byKey } = earlier
  if (byId !== null) {
    if (isSameCorrection(byId, terms)) return correctionFrom(byId)
    throw new RangeError(`The id ${formatId('op', id)} was given to another correction.`)
  }
  if (byKey === null) return undefined
  if (isSameCorrection(byKey, terms)) return correctionFrom(byKey)
  throw new GatewayError(
    'idempotency_key_reuse',
    'This idempotency key was used before for another debit or refund.',
  )
}

/** The books of the account, and the row id that the operation of the correction gets. */
type CorrectionFacts = { readonly books: AccountState; readonly operationId: bigint }

export type NewCorrection = {
  readonly correction: Correction
  readonly operation: Operation
  readonly row: NewRow<typeof correctionsTable>
}

/** A debit that is not a repeat. */
export function newDebit(facts: CorrectionFacts, request: Debit): NewCorrection {
  const { id, amount, audit } = request
  const { free } = facts.books
  const movements = debiting(free, request)
  const correction = { id, amount, available: subtractUsd(free, amount) }
  const operation: Operation = { kind: 'debit', subject: id, movements, atMs: audit.atMs }
  return { correction, operation, row: correctionRow(facts, request, correction, null) }
}

/** A refund that is not a repeat. */
export function newRefund(
  facts: CorrectionFacts & { readonly charge: RefundableRow },
  request: Refund,
): NewCorrection {
  const { id, amount, audit } = request
  const { charge, books } = facts
  if (books.current.isClosed) throw closedRefusal('refunds')
  if (charge.is_compensated === 1n)
    throw new GatewayError('already_exists', 'This charge was given back in full when it was made.', {
      extensions: { refundable_usd: '0' },
    })
  const refundable = { kind: charge.kind, cost: nanoUsd(charge.cost), refunded: nanoUsd(charge.refunded) }
  const movements = refunding(refundable, request)
  const correction = { id, amount, available: addUsd(books.free, amount) }
  const operation: Operation = { kind: 'refund', subject: id, movements, atMs: audit.atMs }
  return { correction, operation, row: correctionRow(facts, request, correction, charge.id) }
}

function correctionRow(
  { books, operationId }: CorrectionFacts,
  { note, idempotencyKey }: Pick<Debit, 'note' | 'idempotencyKey'>,
  { id, amount, available }: Correction,
  chargeId: bigint | null,
): NewRow<typeof correctionsTable> {
  return {
    id_key: id.key,
    id_tail: id.tail,
    account_id: books.accountId,
    operation_id: operationId,
    charge_id: chargeId,
    amount,
    note: note ?? null,
    idempotency_key: idempotencyKey ?? null,
    available_after: available,
  }
}

function isSameCorrection(row: CorrectionRow, { accountId, amount, chargeId }: CorrectionTerms): boolean {
  return Number(row.account_id) === accountId && row.amount === amount && row.charge_id === chargeId
}

function correctionFrom({ id_key: key, id_tail: tail, amount, available_after }: CorrectionRow): Correction {
  return { id: { key, tail }, amount: nanoUsd(amount), available: nanoUsd(available_after) }
}
