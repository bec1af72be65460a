import type { Database } from 'bun:sqlite'
import type { Book } from '../../domain/ledger/books.ts'
import { addUsd, subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { HoldOutcome } from '../../gateway/ports/ledger.ts'
import { BalancesTable, type BooksState } from './balances-table.ts'
import type { HintBroadcast } from './freed-hints.ts'
import type { Transactions } from './transactions.ts'

/**
 * Accounts whose books are kept in memory, at about 500 bytes each. The books of others are read when they are needed.
 */
const BOOKS_KEPT_MAX = 100_000
/**
 * How many of the oldest are tried to make room for one. Books in use stay, so the limit can be exceeded for a while.
 */
const EVICTION_TRIES = 8

/** The state that the steps of a transaction change, one after the other. */
export type StagedBooks = {
  readonly balances: Record<Book, NanoUsd>
  bookedLosses: NanoUsd
  operationCount: number
  latestOperationId: bigint | null
  latestChargeId: bigint | null
}

/** The books of one account in memory. */
export class AccountBooks {
  readonly accountId: number
  /** The state on disk. */
  committed: BooksState
  /** The state in the running transaction; null outside of one, and if it has not changed these books. */
  staged: StagedBooks | null = null
  /** The sum and the number of the holds that are only in memory. */
  heldInMemory: NanoUsd = ZERO
  holdsInMemory = 0

  constructor(accountId: number, committed: BooksState) {
    this.accountId = accountId
    this.committed = committed
  }

  /** The state that a step decides on: the stored state with the changes of the running transaction so far. */
  get current(): BooksState {
    return this.staged ?? this.committed
  }

  /** The money that can be spent or held now. */
  get free(): NanoUsd {
    return subtractUsd(this.current.balances.available, this.heldInMemory)
  }

  get isInUse(): boolean {
    return this.holdsInMemory > 0 || this.staged !== null
  }
}

/** The outcome of a hold that the account cannot cover, with what it has free and what other work holds. */
export function refusalFor(books: AccountBooks): HoldOutcome {
  const heldText = books.heldInMemory
  const held = addUsd(books.current.balances['held.media'], heldText)
  return { outcome: 'refused', available: books.free, held, heldText }
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
  #changed: AccountBooks[] = []

  constructor(
    parts: {
      readonly database: Database
      readonly transactions: Transactions
      readonly hints: HintBroadcast
    },
    keptMax = BOOKS_KEPT_MAX,
  ) {
    this.#table = new BalancesTable(parts.database)
    this.#hints = parts.hints
    this.#keptMax = keptMax
    parts.transactions.join({
      beforeCommit: () => this.#write(),
      afterCommit: () => this.#adopt(),
      afterRollback: () => this.#drop(),
    })
  }

  /** Throws a RangeError for an account that does not exist. */
  of(accountId: number): AccountBooks {
    return this.#kept.get(accountId) ?? this.#load(accountId)
  }

  /** Inside a step: the state that the step may change. */
  stage(books: AccountBooks): StagedBooks {
    if (books.staged !== null) return books.staged
    this.#changed.push(books)
    return (books.staged = { ...books.committed, balances: { ...books.committed.balances } })
  }

  #write(): void {
    for (const { accountId, current } of this.#changed) this.#table.write(accountId, current)
  }

  #adopt(): void {
    const changed = this.#changed
    this.#changed = []
    for (const books of changed) {
      books.committed = books.current
      books.staged = null
    }
    for (const { accountId } of changed) this.#hints.report(accountId)
  }

  #drop(): void {
    for (const books of this.#changed) books.staged = null
    this.#changed = []
  }

  #load(accountId: number): AccountBooks {
    const books = new AccountBooks(accountId, this.#table.read(accountId))
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
