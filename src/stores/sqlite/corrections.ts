import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../domain/ids.ts'
import type { Audit } from '../../gateway/ports/audit.ts'
import type { Correction, Debit, Refund } from '../../gateway/ports/ledger.ts'
import {
  newDebit,
  newRefund,
  repeatedCorrection,
  type CorrectionRow,
  type CorrectionTerms,
  type NewCorrection,
  type RefundableRow,
} from '../books/correction-rows.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { Tables } from './hashed-table.ts'
import type { Journal } from './journal.ts'

type Parts = {
  readonly database: Database
  readonly tables: Tables
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly auditLog: SqliteAuditLog
}

/** The steps of `Ledger.debit` and `Ledger.refund`. */
export class Corrections {
  readonly #parts: Parts
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = statements(parts.database)
  }

  /** Inside a step: debits the account, or returns the first debit of a repeated id or idempotency key. */
  debit(request: Debit): Correction {
    const { booksOfAccounts, journal } = this.#parts
    const { accountId, amount } = request
    const first = this.#first(request, { accountId, amount, chargeId: null })
    if (first !== undefined) return first
    const books = booksOfAccounts.of(accountId)
    const facts = { books, operationId: journal.nextOperationId }
    return this.#write(books, newDebit(facts, request), request.audit)
  }

  /** Inside a step: refunds the charge, or returns the first refund of a repeated id or idempotency key. */
  refund(request: Refund): Correction {
    const { booksOfAccounts, journal } = this.#parts
    const { key, tail } = request.charge
    const charge = this.#sql.selectCharge.get(key, tail)
    if (charge === null)
      throw new RangeError(`There is no charge with the id of ${formatId('req', request.charge)}.`)
    const accountId = Number(charge.account_id)
    const first = this.#first(request, { accountId, amount: request.amount, chargeId: charge.id })
    if (first !== undefined) return first
    const books = booksOfAccounts.of(accountId)
    const facts = { books, operationId: journal.nextOperationId, charge }
    return this.#write(books, newRefund(facts, request), request.audit)
  }

  #first(request: Pick<Debit, 'id' | 'idempotencyKey'>, terms: CorrectionTerms): Correction | undefined {
    const { id, idempotencyKey: key } = request
    const byId = this.#sql.selectById.get(id.key, id.tail)
    const byKey = key === undefined ? null : this.#sql.selectByKey.get(terms.accountId, key)
    return repeatedCorrection({ byId, byKey }, request, terms)
  }

  #write(books: AccountBooks, { correction, operation, row }: NewCorrection, audit: Audit): Correction {
    const { journal, tables, auditLog } = this.#parts
    journal.move(books, operation)
    tables.corrections.insert(row)
    auditLog.append(audit)
    return correction
  }
}

function statements(database: Database) {
  return {
    selectById: database.prepare<CorrectionRow, [bigint, bigint]>(
      'SELECT * FROM corrections WHERE id_key = ? AND id_tail = ?',
    ),
    selectByKey: database.prepare<CorrectionRow, [number, string]>(
      'SELECT * FROM corrections WHERE account_id = ? AND idempotency_key = ?',
    ),
    selectCharge: database.prepare<RefundableRow, [bigint, bigint]>(
      `SELECT id, account_id, cost, CASE WHEN provenance IS NULL THEN 'media' ELSE 'text' END AS kind,
          (SELECT ifnull(sum(amount), 0) FROM corrections WHERE charge_id = charges.id) AS refunded,
          EXISTS (SELECT 1 FROM attempts WHERE request_key = id_key AND request_tail = id_tail AND state = 'compensated')
            AS is_compensated
        FROM charges WHERE id_key = ? AND id_tail = ?`,
    ),
  } satisfies Record<string, Statement>
}
