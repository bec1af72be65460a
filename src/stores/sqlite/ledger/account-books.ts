import type { Database, Statement } from 'bun:sqlite'
import { booksInconsistent } from '../../../domain/errors.ts'
import { subtractUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import {
  booksStateFrom,
  type AccountColumns,
  type BalancesRow,
  type BooksState,
  type StagedBooks,
  type StepBooks,
} from '../../books/rows/operation-rows.ts'
import type { HintBroadcast } from './freed-hints.ts'
import type { AccountLimits } from '../../books/limits/account-limits.ts'
import type { Tables } from '../commits/hashed-table.ts'
import type { Transactions } from '../commits/transactions.ts'
import { noBooks } from '../../books/ledger/holds.ts'

/**
 * Accounts whose books are kept in memory, at about 500 bytes each. The books of others are read when they are needed.
 */
const BOOKS_KEPT_MAX = 100_000
/**
 * The number of the oldest that are tried, to make room for one. Books in use stay, so the limit can be exceeded for a
 * while.
 */
const EVICTION_TRIES = 8

/** The table of operations. */
type NextId = Pick<Tables['operations'], 'nextId'>

type SharedByBooks = {
  /** The books that the running transaction changed. */
  readonly changed: AccountBooks[]
  readonly operations: NextId
}

/** The books of one account in memory. */
export class AccountBooks implements StepBooks {
  readonly accountId: number
  /** The state on disk. */
  committed: BooksState
  /** The state in the running transaction; null outside of one, and if it has not changed these books. */
  staged: StagedBooks | null = null
  /** The sum of the open text holds, which are only in memory, and the number of those that have not ended. */
  heldText: NanoUsd = ZERO
  textHolds = 0
  /** Its scopes that have limits. Null if none has, and undefined if this was not read yet. */
  limits: AccountLimits | null | undefined
  readonly #shared: SharedByBooks

  constructor(accountId: number, committed: BooksState, shared: SharedByBooks) {
    this.accountId = accountId
    this.committed = committed
    this.#shared = shared
  }

  /** Inside a step: the state that the step may change. */
  stage(): StagedBooks {
    if (this.staged !== null) return this.staged
    this.#shared.changed.push(this)
    return (this.staged = { ...this.committed, balances: { ...this.committed.balances } })
  }

  nextOperationId(): bigint {
    return this.#shared.operations.nextId
  }

  /** The state that a step decides on: the stored state with the changes of the running transaction so far. */
  get current(): BooksState {
    return this.staged ?? this.committed
  }

  /** The money that can be spent or held now. */
  get free(): NanoUsd {
    return subtractUsd(this.current.balances.available, this.heldText)
  }

  /** False if no scope of the account has limits. True also if they were not read yet. */
  get mayBeLimited(): boolean {
    return this.limits !== null
  }

  get isInUse(): boolean {
    // The rates of its limits are only in memory.
    return this.textHolds > 0 || this.staged !== null || (this.limits ?? null) !== null
  }
}

/**
 * The books of all accounts. Changes are staged in a transaction, written once for each account before its commit,
 * adopted after it, and dropped after a rollback.
 */
export class BooksOfAccounts {
  readonly #table: BalancesTable
  readonly #hints: HintBroadcast
  readonly #keptMax: number
  readonly #kept = new Map<number, AccountBooks>()
  readonly #shared: SharedByBooks
  readonly #changed: AccountBooks[] = []

  constructor(
    parts: {
      readonly database: Database
      readonly transactions: Transactions
      readonly tables: { readonly operations: NextId }
      readonly hints: HintBroadcast
    },
    keptMax = BOOKS_KEPT_MAX,
  ) {
    this.#table = new BalancesTable(parts.database)
    this.#shared = { changed: this.#changed, operations: parts.tables.operations }
    this.#hints = parts.hints
    this.#keptMax = keptMax
    parts.transactions.join({
      beforeCommit: () => this.#write(),
      afterCommit: () => this.#adopt(),
      afterRollback: () => this.#drop(),
    })
  }

  /** Throws a RangeError for an account that does not exist, and `books_inconsistent` for one without its row. */
  of(accountId: number): AccountBooks {
    return this.#kept.get(accountId) ?? this.#load(accountId)
  }

  /** Those in memory whose limits were read, and that have some. */
  limited(): readonly AccountBooks[] {
    return [...this.#kept.values()].filter(({ limits }) => (limits ?? null) !== null)
  }

  #write(): void {
    for (const { accountId, current } of this.#changed) this.#table.write(accountId, current)
  }

  #adopt(): void {
    const changed = this.#changed.splice(0)
    for (const books of changed) {
      books.committed = books.current
      books.staged = null
    }
    for (const { accountId } of changed) this.#hints.report(accountId)
  }

  #drop(): void {
    for (const books of this.#changed.splice(0)) books.staged = null
  }

  #load(accountId: number): AccountBooks {
    const books = new AccountBooks(accountId, this.#table.read(accountId), this.#shared)
    if (this.#kept.size >= this.#keptMax) this.#makeRoom()
    this.#kept.set(accountId, books)
    return books
  }

  #makeRoom(): void {
    let tries = EVICTION_TRIES
    for (const [accountId, books] of this.#kept) {
      this.#kept.delete(accountId)
      if (!books.isInUse) return
      // It moves to the end, so that the next search starts with others.
      this.#kept.set(accountId, books)
      tries -= 1
      if (tries === 0) return
    }
  }
}

/** The table `balances`: one row for each account. */
class BalancesTable {
  readonly #select: Statement<BalancesRow & AccountColumns, [number]>
  readonly #selectAccount: Statement<{ id: bigint }, [number]>
  readonly #update: Statement

  constructor(database: Database) {
    this.#selectAccount = database.prepare('SELECT id FROM accounts WHERE id = ?')
    this.#select = database.prepare(
      `SELECT balances.*, accounts.closed_at_ms IS NOT NULL AS is_closed, below, is_low
        FROM balances JOIN accounts ON accounts.id = balances.account_id
          LEFT JOIN balance_alerts ON balance_alerts.account_id = balances.account_id
        WHERE balances.account_id = ?`,
    )
    this.#update = database.prepare(
      `UPDATE balances SET available = ?, held_text = ?, held_media = ?, cash = ?, promotions = ?, revenue_text = ?,
        revenue_media = ?, losses = ?, booked_losses = ?, operation_count = ?, latest_operation_id = ?, latest_charge_id = ?
        WHERE account_id = ?`,
    )
  }

  /** Throws a RangeError for an account that does not exist, and `books_inconsistent` for one without its row. */
  read(accountId: number): BooksState {
    const row = this.#select.get(accountId)
    if (row !== null) return booksStateFrom(row, row)
    const noRow = noBooks(accountId)
    throw this.#selectAccount.get(accountId) === null ? noRow : booksInconsistent('account', noRow)
  }

  write(accountId: number, state: BooksState): void {
    const { balances } = state
    this.#update.run(
      balances.available,
      balances['held.text'],
      balances['held.media'],
      balances.cash,
      balances.promotions,
      balances['revenue.text'],
      balances['revenue.media'],
      balances.losses,
      state.bookedLosses,
      state.operationCount,
      state.latestOperationId,
      state.latestChargeId,
      accountId,
    )
  }
}
