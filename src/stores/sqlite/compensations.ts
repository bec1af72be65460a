import type { Database, Statement } from 'bun:sqlite'
import type { AttemptId } from '../../gateway/ports/attempts.ts'
import type { Compensated } from '../../gateway/ports/ledger.ts'
import { compensateAttempt, nameOfAttempt, type AttemptRow } from '../books/attempt-rows.ts'
import type { BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { Journal } from './journal.ts'

type Parts = {
  readonly database: Database
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
}

/** The step of `Ledger.compensate`. */
export class Compensations {
  readonly #parts: Parts
  readonly #select: Statement<AttemptRow, [bigint, bigint, number]>
  readonly #settle: Statement

  constructor(parts: Parts) {
    const { database } = parts
    this.#parts = parts
    this.#select = database.prepare(
      `SELECT attempts.*, tariffs.content FROM attempts LEFT JOIN tariffs ON tariffs.id = tariff_id
        WHERE request_key = ? AND request_tail = ? AND number = ?`,
    )
    this.#settle = database.prepare(
      `UPDATE attempts SET state = 'compensated', compensated_by = ?
        WHERE request_key = ? AND request_tail = ? AND number = ? AND state = 'billed'`,
    )
  }

  /** Inside a step: charges the attempt and gives the same amount back. */
  compensate(attempt: AttemptId, atMs: number): Compensated {
    const { requestId: id, number } = attempt
    const { booksOfAccounts, journal, charges } = this.#parts
    const row = this.#select.get(id.key, id.tail, number)
    const isCharged = charges.first(id) !== null
    const facts = { row, isCharged, nextOperationId: journal.nextOperationId }
    const { cost, write } = compensateAttempt(facts, attempt, atMs)
    if (row === null || write === undefined) return { cost, isFirst: false }

    const books = booksOfAccounts.of(Number(row.account_id))
    const [charged, compensated] = write.operations
    charges.insert(books, write.charge, write.booking)
    journal.write(books, charged)
    const compensatedBy = journal.write(books, compensated)
    const { changes } = this.#settle.run(compensatedBy, id.key, id.tail, number)
    if (changes !== 1) throw new Error(`The ${nameOfAttempt(attempt)} is not billed.`)
    return { cost, isFirst: true }
  }
}
