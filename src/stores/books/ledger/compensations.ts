import type { AttemptId } from '../../../gateway/ports/ledger/attempts.ts'
import type { Compensated } from '../../../gateway/ports/ledger/ledger.ts'
import { compensateAttempt, nameOfAttempt, type AttemptRow } from '../rows/attempt-rows.ts'
import { all, booksOf, first, type Step } from '../steps.ts'
import type { Charges } from './charges.ts'
import type { Journal } from './journal.ts'

/** The step of `Ledger.compensate`. */
export class Compensations {
  readonly #journal: Journal
  readonly #charges: Charges

  constructor(parts: { readonly journal: Journal; readonly charges: Charges }) {
    this.#journal = parts.journal
    this.#charges = parts.charges
  }

  /** Charges the attempt and gives the same amount back. */
  *compensate(attempt: AttemptId, atMs: number): Step<Compensated> {
    const { requestId: id } = attempt
    const { account_id: accountId } = yield* attemptOf(attempt)
    const books = yield* booksOf(Number(accountId))
    // The attempt is read again: another step may have compensated it before this one got the books.
    const row = yield* attemptOf(attempt)
    const isCharged = (yield* this.#charges.first(id)) !== null
    const facts = { row, isCharged, nextOperationId: books.nextOperationId() }
    const { cost, write } = compensateAttempt(facts, attempt, atMs)
    if (write === undefined) return { cost, isFirst: false }

    const [charged, compensated] = write.operations
    yield* this.#charges.insert(books, write.charge, write.booking)
    yield* this.#journal.write(books, charged)
    const compensatedBy = yield* this.#journal.write(books, compensated)
    const settled = yield* all(
      `UPDATE attempts SET state = 'compensated', compensated_by = ?
        WHERE request_key = ? AND request_tail = ? AND number = ? AND state = 'billed' RETURNING id`,
      compensatedBy,
      id.key,
      id.tail,
      attempt.number,
    )
    if (settled.length !== 1) throw new Error(`The ${nameOfAttempt(attempt)} is not billed.`)
    return { cost, isFirst: true }
  }
}

/** Throws a RangeError for an attempt that does not exist. */
function* attemptOf(attempt: AttemptId): Step<AttemptRow> {
  const { requestId: id, number } = attempt
  const row = yield* first<AttemptRow>(
    `SELECT attempts.*, tariffs.content FROM attempts LEFT JOIN tariffs ON tariffs.id = tariff_id
      WHERE request_key = ? AND request_tail = ? AND number = ?`,
    id.key,
    id.tail,
    number,
  )
  if (row === undefined) throw new RangeError(`There is no ${nameOfAttempt(attempt)}.`)
  return row
}
