import type { Database } from 'bun:sqlite'
import type { Balances, Book } from '../../domain/ledger/books.ts'
import { addUsd, nanoUsd, subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { HoldOutcome } from '../../gateway/ports/ledger.ts'
import type { GroupCommit } from './group-commit.ts'

/** Accounts whose books are kept in memory, at about 500 bytes each. Others are read again when they are needed. */
const BOOKS_KEPT_MAX = 100_000
/** How many of the oldest are looked at to make room for one. Those in use stay, so a crowd may pass the limit. */
const EVICTION_TRIES = 8

/** What stands in the books of an account, and where its chains of operations and charges end. */
export type Standing = {
  readonly balances: Balances
  readonly latestOperationId: bigint | null
  readonly latestChargeId: bigint | null
}

/** What the steps of a transaction make of it, one after the other. */
export type StagedStanding = {
  readonly balances: Record<Book, NanoUsd>
  latestOperationId: bigint | null
  latestChargeId: bigint | null
}

/** An account's books in memory. `committed` is what is on disk. */
export type AccountBooks = {
  readonly accountId: number
  committed: Standing
  /** What the running transaction makes of them; null outside of one, and where it has not touched them. */
  staged: StagedStanding | null
  /** The sum and the number of the open volatile holds. */
  heldInMemory: NanoUsd
  holdsInMemory: number
}

export type BooksOfAccounts = {
  /** Throws a RangeError for an account that does not exist. */
  of(accountId: number): AccountBooks
  /** Inside a step, which changes what it gets: that is committed with the transaction, or forgotten with it. */
  stage(books: AccountBooks): StagedStanding
  /** Has `listener` told of each account that may have got money to spend, by a commit or by the end of a hold in memory. */
  onFreed(listener: (accountId: number) => void): void
  /** Tells of a hold that ended without a trace in the tables. */
  tellFreed(accountId: number): void
}

/** What a step decides on: what the transaction has made of the books so far. */
export function standingOf(books: AccountBooks): Standing {
  return books.staged ?? books.committed
}

/** What can be spent or held now. */
export function freeOf(books: AccountBooks): NanoUsd {
  return subtractUsd(standingOf(books).balances.available, books.heldInMemory)
}

/** What a refused caller is told: what it could have held, and what others hold. */
export function refusalFor(books: AccountBooks): HoldOutcome {
  const held = addUsd(standingOf(books).balances['held.media'], books.heldInMemory)
  return { outcome: 'refused', available: freeOf(books), held }
}

export function createBooksOfAccounts(
  database: Database,
  groupCommit: GroupCommit,
  keptMax = BOOKS_KEPT_MAX,
): BooksOfAccounts {
  const select = database.prepare<BalancesRow, [number]>('SELECT * FROM balances WHERE account_id = ?')
  const update = database.prepare(
    `UPDATE balances SET available = ?, held_text = ?, held_media = ?, cash = ?, promotions = ?, revenue_text = ?,
      revenue_media = ?, losses = ?, latest_operation_id = ?, latest_charge_id = ? WHERE account_id = ?`,
  )
  const kept = new Map<number, AccountBooks>()
  const listeners: ((accountId: number) => void)[] = []
  let touched: AccountBooks[] = []

  groupCommit.join({
    // Once for each account and transaction, however many of its operations are in it.
    beforeCommit() {
      for (const { accountId, staged } of touched) if (staged !== null) write(accountId, staged)
    },
    afterCommit() {
      const committed = touched
      touched = []
      for (const books of committed) {
        books.committed = standingOf(books)
        books.staged = null
      }
      for (const { accountId } of committed) tellFreed(accountId)
    },
    afterRollback() {
      for (const books of touched) books.staged = null
      touched = []
    },
  })

  function write(accountId: number, { balances, latestOperationId, latestChargeId }: Standing): void {
    update.run(
      balances.available,
      balances['held.text'],
      balances['held.media'],
      balances.cash,
      balances.promotions,
      balances['revenue.text'],
      balances['revenue.media'],
      balances.losses,
      latestOperationId,
      latestChargeId,
      accountId,
    )
  }

  function load(accountId: number): AccountBooks {
    const row = select.get(accountId)
    if (row === null) throw new RangeError(`There is no account ${accountId}.`)
    if (kept.size >= keptMax) makeRoom()
    const books = {
      accountId,
      committed: standingFrom(row),
      staged: null,
      heldInMemory: ZERO,
      holdsInMemory: 0,
    }
    kept.set(accountId, books)
    return books
  }

  function makeRoom(): void {
    let tries = EVICTION_TRIES
    for (const [accountId, books] of kept) {
      kept.delete(accountId)
      if (books.holdsInMemory === 0 && books.staged === null) return
      // In use: it becomes the youngest.
      kept.set(accountId, books)
      tries -= 1
      if (tries === 0) return
    }
  }

  function stage(books: AccountBooks): StagedStanding {
    const { balances, latestOperationId, latestChargeId } = books.committed
    touched.push(books)
    return (books.staged = { balances: { ...balances }, latestOperationId, latestChargeId })
  }

  function tellFreed(accountId: number): void {
    for (const listener of listeners) listener(accountId)
  }

  return {
    of: accountId => kept.get(accountId) ?? load(accountId),
    stage: books => books.staged ?? stage(books),
    onFreed: listener => void listeners.push(listener),
    tellFreed,
  }
}

export type BalancesRow = {
  account_id: bigint
  available: bigint
  held_text: bigint
  held_media: bigint
  cash: bigint
  promotions: bigint
  revenue_text: bigint
  revenue_media: bigint
  losses: bigint
  latest_operation_id: bigint | null
  latest_charge_id: bigint | null
}

export function standingFrom(row: BalancesRow): Standing {
  return {
    balances: {
      available: nanoUsd(row.available),
      'held.text': nanoUsd(row.held_text),
      'held.media': nanoUsd(row.held_media),
      cash: nanoUsd(row.cash),
      promotions: nanoUsd(row.promotions),
      'revenue.text': nanoUsd(row.revenue_text),
      'revenue.media': nanoUsd(row.revenue_media),
      losses: nanoUsd(row.losses),
    },
    latestOperationId: row.latest_operation_id,
    latestChargeId: row.latest_charge_id,
  }
}
