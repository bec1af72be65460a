import { formatId, type Id } from '../../../domain/ids.ts'
import type { Audit } from '../../../gateway/ports/access/audit.ts'
import type { Correction, Debit, Refund } from '../../../gateway/ports/ledger/ledger.ts'
import { appendAudit } from '../access/audit-log.ts'
import {
  newDebit,
  newRefund,
  repeatedCorrection,
  type CorrectionRow,
  type CorrectionTerms,
  type NewCorrection,
  type RefundableRow,
} from '../rows/correction-rows.ts'
import { correctionsTable } from '../rows/money-tables.ts'
import type { StepBooks } from '../rows/operation-rows.ts'
import { booksOf, first, insert, type Step } from '../steps.ts'
import type { Journal } from './journal.ts'

/** The steps of `Ledger.debit` and `Ledger.refund`. */
export class Corrections {
  readonly #journal: Journal

  constructor({ journal }: { readonly journal: Journal }) {
    this.#journal = journal
  }

  /** Debits the account, or returns the first debit of a repeated id or idempotency key. */
  *debit(request: Debit): Step<Correction> {
    const { accountId, amount } = request
    const books = yield* booksOf(accountId)
    const earlier = yield* earlierOf(request, { accountId, amount, chargeId: null })
    if (earlier !== undefined) return earlier
    const operationId = books.nextOperationId()
    return yield* this.#write(books, newDebit({ books, operationId }, request), request.audit)
  }

  /** Refunds the charge, or returns the first refund of a repeated id or idempotency key. */
  *refund(request: Refund): Step<Correction> {
    const { account_id: owner } = yield* chargeOf(request.charge)
    const accountId = Number(owner)
    const books = yield* booksOf(accountId)
    // The charge is read again: another step may have refunded it before this one got the books.
    const charge = yield* chargeOf(request.charge)
    const earlier = yield* earlierOf(request, { accountId, amount: request.amount, chargeId: charge.id })
    if (earlier !== undefined) return earlier
    const operationId = books.nextOperationId()
    return yield* this.#write(books, newRefund({ books, operationId, charge }, request), request.audit)
  }

  *#write(books: StepBooks, { correction, operation, row }: NewCorrection, audit: Audit): Step<Correction> {
    yield* this.#journal.move(books, operation)
    yield* insert(correctionsTable, row)
    yield* appendAudit(audit)
    return correction
  }
}

function* earlierOf(
  request: Pick<Debit, 'id' | 'idempotencyKey'>,
  terms: CorrectionTerms,
): Step<Correction | undefined> {
  const { id, idempotencyKey: key } = request
  const byId = yield* first<CorrectionRow>(
    'SELECT * FROM corrections WHERE id_key = ? AND id_tail = ?',
    id.key,
    id.tail,
  )
  const byKey =
    key === undefined
      ? undefined
      : yield* first<CorrectionRow>(
          'SELECT * FROM corrections WHERE account_id = ? AND idempotency_key = ?',
          terms.accountId,
          key,
        )
  return repeatedCorrection({ byId: byId ?? null, byKey: byKey ?? null }, request, terms)
}

function* chargeOf(id: Id): Step<RefundableRow> {
  const charge = yield* first<RefundableRow>(
    `SELECT id, account_id, cost, CASE WHEN provenance IS NULL THEN 'media' ELSE 'text' END AS kind,
        CAST((SELECT coalesce(sum(amount), 0) FROM corrections WHERE charge_id = charges.id) AS bigint) AS refunded,
        EXISTS (SELECT 1 FROM attempts WHERE request_key = id_key AND request_tail = id_tail AND state = 'compensated')
          AS is_compensated
      FROM charges WHERE id_key = ? AND id_tail = ?`,
    id.key,
    id.tail,
  )
  if (charge === undefined) throw new RangeError(`There is no charge with the id of ${formatId('req', id)}.`)
  return charge
}
