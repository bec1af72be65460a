import type { Database, Statement } from 'bun:sqlite'
import { creditEvent } from '../../domain/webhooks/event.ts'
import type { Credit } from '../../gateway/ports/ledger.ts'
import { newCredit, repeatedCredit, type CreditRequest, type CreditRow } from '../books/credit-rows.ts'
import { latestGrants } from '../books/access/admin-tokens.ts'
import type { StepRunner } from './engine.ts'
import type { BooksOfAccounts } from './account-books.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import type { Tables } from './hashed-table.ts'
import type { Journal } from './journal.ts'
import type { WebhookEvents } from './webhooks/webhook-events.ts'

type Parts = {
  readonly database: Database
  readonly stepRunner: StepRunner
  readonly tables: Tables
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly auditLog: SqliteAuditLog
  readonly webhookEvents: WebhookEvents
}

/** The step of `Ledger.credit`. */
export class Credits {
  readonly #parts: Parts
  readonly #selectById: Statement<CreditRow, [bigint, bigint]>
  readonly #selectByKey: Statement<CreditRow, [number, string]>

  constructor(parts: Parts) {
    const { database } = parts
    this.#parts = parts
    this.#selectById = database.prepare('SELECT * FROM credits WHERE id_key = ? AND id_tail = ?')
    this.#selectByKey = database.prepare('SELECT * FROM credits WHERE account_id = ? AND idempotency_key = ?')
  }

  /** Inside a step: credits the account, or returns the first credit of a repeated id or idempotency key. */
  credit(request: CreditRequest): Credit {
    const { booksOfAccounts, journal, tables, auditLog, webhookEvents, stepRunner } = this.#parts
    const { id, accountId, idempotencyKey: key, allowance } = request
    const byId = this.#selectById.get(id.key, id.tail)
    const byKey = key === undefined ? null : this.#selectByKey.get(accountId, key)
    const first = repeatedCredit({ byId, byKey }, request)
    if (first !== undefined) return first
    const books = booksOfAccounts.of(accountId)
    const granted = allowance === undefined ? undefined : stepRunner.run(latestGrants(allowance.tokenId))
    const facts = { books, operationId: journal.nextOperationId, granted }
    const { credit, operation, row } = newCredit(facts, request)
    journal.move(books, operation)
    tables.credits.insert(row)
    auditLog.append(request.audit)
    const { amount, source } = request
    const { available } = credit
    webhookEvents.emit(creditEvent({ accountId, source, amount, available, atMs: operation.atMs }))
    return credit
  }
}
