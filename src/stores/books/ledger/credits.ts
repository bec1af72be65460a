import { creditEvent, type NewEvent } from '../../../domain/webhooks/event.ts'
import type { Credit } from '../../../gateway/ports/ledger/ledger.ts'
import { appendAudit } from '../access/audit-log.ts'
import { latestGrants } from '../access/day-grants.ts'
import { newCredit, repeatedCredit, type CreditRequest, type CreditRow } from '../rows/credit-rows.ts'
import { creditsTable } from '../rows/money-tables.ts'
import { booksOf, first, insert, type Step } from '../steps.ts'
import type { Journal } from './journal.ts'

/** Records events inside the step of what happened. */
export type EventSink = { emit(event: NewEvent): Step<void> }

/** The step of `Ledger.credit`. */
export class Credits {
  readonly #journal: Journal
  readonly #events: EventSink

  constructor(parts: { readonly journal: Journal; readonly events: EventSink }) {
    this.#journal = parts.journal
    this.#events = parts.events
  }

  /** Credits the account, or returns the first credit of a repeated id or idempotency key. */
  *credit(request: CreditRequest): Step<Credit> {
    const { accountId, allowance, amount, source } = request
    const books = yield* booksOf(accountId)
    const repeated = repeatedCredit(yield* this.#earlier(request), request)
    if (repeated !== undefined) return repeated
    const granted = allowance === undefined ? undefined : yield* latestGrants(allowance)
    const operationId = books.nextOperationId()
    const { credit, operation, row } = newCredit({ books, operationId, granted }, request)
    yield* this.#journal.move(books, operation)
    yield* insert(creditsTable, row)
    yield* appendAudit(request.audit)
    const { available } = credit
    yield* this.#events.emit(creditEvent({ accountId, source, amount, available, atMs: operation.atMs }))
    return credit
  }

  *#earlier({ id, accountId, idempotencyKey: key }: CreditRequest) {
    const byId = yield* first<CreditRow>(
      'SELECT * FROM credits WHERE id_key = ? AND id_tail = ?',
      id.key,
      id.tail,
    )
    const byKey =
      key === undefined
        ? undefined
        : yield* first<CreditRow>(
            'SELECT * FROM credits WHERE account_id = ? AND idempotency_key = ?',
            accountId,
            key,
          )
    return { byId: byId ?? null, byKey: byKey ?? null }
  }
}
