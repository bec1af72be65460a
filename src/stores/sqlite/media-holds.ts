import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../domain/ids.ts'
import type { HoldKind } from '../../domain/ledger/books.ts'
import {
  canHold,
  capturing,
  following,
  placing,
  releasing,
  type HoldState,
  type HoldTerms,
} from '../../domain/ledger/hold.ts'
import type { Captured, Charge, Hold, HoldOutcome } from '../../gateway/ports/ledger.ts'
import { refusalFor, type BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { Journal } from './journal.ts'
import { anotherHold } from './open-text-holds.ts'

type Parts = {
  readonly database: Database
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
}

/** The steps of the holds of media jobs. These are rows with their money moved, because a job outlives its process. */
export class MediaHolds {
  readonly #parts: Parts
  readonly #select: Statement<HoldRow, [bigint, bigint]>
  readonly #insert: Statement
  readonly #resolve: Statement

  constructor(parts: Parts) {
    const { database } = parts
    this.#parts = parts
    this.#select = database.prepare(
      'SELECT account_id, kind, amount, state FROM holds WHERE id_key = ? AND id_tail = ?',
    )
    this.#insert = database.prepare(
      `INSERT INTO holds (id_key, id_tail, account_id, kind, amount, state, placed_by, placed_at_ms)
        VALUES (?, ?, ?, ?, ?, 'open', ?, ?)`,
    )
    this.#resolve = database.prepare(
      `UPDATE holds SET state = ?, resolved_by = ?, resolved_at_ms = ?
        WHERE id_key = ? AND id_tail = ? AND state = 'open'`,
    )
  }

  /** Inside a step: moves the money, or refuses and writes nothing. */
  place(hold: Hold, atMs: number): HoldOutcome {
    const { booksOfAccounts, journal } = this.#parts
    const { id, accountId, kind, amount } = hold
    const state = this.#find(hold)
    if (state === 'open') return { outcome: 'held', hold }
    if (state !== undefined) throw new RangeError(`${formatId('hold', id)} is ${state} already.`)
    const books = booksOfAccounts.of(accountId)
    if (!canHold(books.free, amount)) return refusalFor(books)
    const movements = placing(termsOf(hold))
    const placedBy = journal.write(books, { kind: 'hold', subject: id, movements, atMs })
    this.#insert.run(id.key, id.tail, accountId, kind, amount, placedBy, atMs)
    return { outcome: 'held', hold }
  }

  /** Inside a step: takes the cost and frees the rest. */
  capture(hold: Hold, charge: Charge): Captured {
    const { booksOfAccounts, journal, charges } = this.#parts
    const { id, accountId } = hold
    const { cost, atMs } = charge
    // A hold that was released or never placed has no charge, so `outcome` throws.
    if (this.#find(hold) !== 'open') return charges.outcome({ id, accountId, cost })
    const books = booksOfAccounts.of(accountId)
    const { movements, shortfall } = capturing(termsOf(hold), cost)
    const operationId = cost === 0n ? null : journal.nextOperationId
    if (!charges.insert(books, charge, { id, shortfall, operationId }))
      throw new RangeError(`${formatId('hold', id)} was charged without its hold.`)
    const resolvedBy = journal.write(books, { kind: 'capture', subject: id, movements, atMs })
    this.#end(hold, 'captured', { resolvedBy, atMs })
    return { cost, shortfall }
  }

  /** Inside a step: frees the whole hold. Changes nothing if it is not open. */
  release(hold: Hold, atMs: number): void {
    const { booksOfAccounts, journal } = this.#parts
    if (this.#find(hold) !== 'open') return
    const books = booksOfAccounts.of(hold.accountId)
    const movements = releasing(termsOf(hold))
    const resolvedBy = journal.write(books, { kind: 'release', subject: hold.id, movements, atMs })
    this.#end(hold, 'released', { resolvedBy, atMs })
  }

  /** Undefined if it was never placed. Throws a RangeError if the id is of another hold. */
  #find({ id, accountId, kind, amount }: Hold): HoldState | undefined {
    const row = this.#select.get(id.key, id.tail)
    if (row === null) return undefined
    const isSame = Number(row.account_id) === accountId && row.kind === kind && row.amount === amount
    if (!isSame) throw anotherHold(id)
    return row.state
  }

  #end(
    { id }: Hold,
    state: (typeof following)['open'][number],
    by: { readonly resolvedBy: bigint | null; readonly atMs: number },
  ): void {
    const { changes } = this.#resolve.run(state, by.resolvedBy, by.atMs, id.key, id.tail)
    if (changes !== 1) throw new Error(`${formatId('hold', id)} could not be ${state}: it is not open.`)
  }
}

type HoldRow = {
  account_id: bigint
  kind: HoldKind
  amount: bigint
  state: HoldState
}

function termsOf({ kind, amount }: Hold): HoldTerms {
  return { kind, amount, isVolatile: false }
}
