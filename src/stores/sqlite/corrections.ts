import type { Database, Statement } from 'bun:sqlite'
import { GatewayError } from '../../domain/errors.ts'
import { formatId } from '../../domain/ids.ts'
import type { HoldKind } from '../../domain/ledger/books.ts'
import { debiting, refunding } from '../../domain/ledger/correction.ts'
import type { Movement } from '../../domain/ledger/post.ts'
import { nanoUsd } from '../../domain/money.ts'
import type { Correction, Debit, Refund } from '../../gateway/ports/ledger.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { Journal } from './journal.ts'
import type { Tables } from './tables.ts'

type Parts = {
  readonly database: Database
  readonly tables: Tables
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly auditLog: SqliteAuditLog
}

/** The values that a repeat must share with the first correction. */
type Terms = { readonly accountId: number; readonly amount: bigint; readonly chargeId: bigint | null }

/** The steps of `Ledger.debit` and `Ledger.refund`. */
export class Corrections {
  readonly #parts: Parts
  readonly #sql: ReturnType<typeof statements>
  readonly #table: Tables['corrections']

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = statements(parts.database)
    this.#table = parts.tables.corrections
  }

  /** Inside a step: debits the account, or returns the first debit of a repeated id or idempotency key. */
  debit(request: Debit): Correction {
    const { accountId, amount } = request
    const terms = { accountId, amount, chargeId: null }
    const first = this.#first(request, terms)
    if (first !== undefined) return first
    const books = this.#parts.booksOfAccounts.of(accountId)
    return this.#write(books, { ...request, kind: 'debit', chargeId: null }, debiting(books.free, request))
  }

  /** Inside a step: refunds the charge, or returns the first refund of a repeated id or idempotency key. */
  refund(request: Refund): Correction {
    const { charge, amount } = request
    const row = this.#sql.selectCharge.get(charge.key, charge.tail)
    if (row === null) throw new RangeError(`There is no charge with the id of ${formatId('req', charge)}.`)
    const accountId = Number(row.account_id)
    const first = this.#first(request, { accountId, amount, chargeId: row.id })
    if (first !== undefined) return first
    if (row.is_compensated === 1n)
      throw new GatewayError('already_exists', 'This charge was given back in full when it was made.', {
        extensions: { refundable_usd: '0' },
      })
    const refundable = { kind: row.kind, cost: nanoUsd(row.cost), refunded: nanoUsd(row.refunded) }
    const movements = refunding(refundable, request)
    const books = this.#parts.booksOfAccounts.of(accountId)
    return this.#write(books, { ...request, kind: 'refund', chargeId: row.id }, movements)
  }

  #write(
    books: AccountBooks,
    correction: Pick<Debit, 'id' | 'amount' | 'note' | 'idempotencyKey' | 'audit'> & {
      readonly kind: 'debit' | 'refund'
      readonly chargeId: bigint | null
    },
    movements: readonly Movement[],
  ): Correction {
    const { journal, auditLog } = this.#parts
    const { id, kind, chargeId, amount, note = null, idempotencyKey = null, audit } = correction
    const operationId = journal.move(books, { kind, subject: id, movements, atMs: audit.atMs })
    const { accountId, free: available } = books
    this.#table.insert({
      id_key: id.key,
      id_tail: id.tail,
      account_id: accountId,
      operation_id: operationId,
      charge_id: chargeId,
      amount,
      note,
      idempotency_key: idempotencyKey,
      available_after: available,
    })
    auditLog.append(audit)
    return { id, amount, available }
  }

  #first({ id, idempotencyKey }: Pick<Debit, 'id' | 'idempotencyKey'>, terms: Terms): Correction | undefined {
    const byId = this.#sql.selectById.get(id.key, id.tail)
    if (byId !== null) {
      if (isSameCorrection(byId, terms)) return correctionFrom(byId)
      throw new RangeError(`The id ${formatId('op', id)} was given to another correction.`)
    }
    if (idempotencyKey === undefined) return undefined
    const byKey = this.#sql.selectByKey.get(terms.accountId, idempotencyKey)
    if (byKey === null) return undefined
    if (isSameCorrection(byKey, terms)) return correctionFrom(byKey)
    throw new GatewayError(
      'idempotency_key_reuse',
      'This idempotency key was used before for another debit or refund.',
    )
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

type CorrectionRow = {
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  charge_id: bigint | null
  amount: bigint
  available_after: bigint
}

type RefundableRow = {
  id: bigint
  account_id: bigint
  cost: bigint
  kind: HoldKind
  refunded: bigint
  is_compensated: bigint
}

function isSameCorrection(row: CorrectionRow, { accountId, amount, chargeId }: Terms): boolean {
  return Number(row.account_id) === accountId && row.amount === amount && row.charge_id === chargeId
}

function correctionFrom({ id_key: key, id_tail: tail, amount, available_after }: CorrectionRow): Correction {
  return { id: { key, tail }, amount: nanoUsd(amount), available: nanoUsd(available_after) }
}
