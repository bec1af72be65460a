import { canHold, capturing } from '../../domain/ledger/hold.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { Captured, Charge, Hold, HoldOutcome } from '../../gateway/ports/ledger.ts'
import { refusalFor, type BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { FreedHints } from './freed-hints.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Journal } from './journal.ts'
import { anotherHold, OpenTextHolds, TextHold } from './open-text-holds.ts'
import type { Transactions } from './transactions.ts'

type Parts = {
  readonly transactions: Transactions
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
  readonly freedHints: FreedHints
}

/**
 * The holds of running text requests, kept in memory only: no other process can spend the money, and a request dies with its
 * process. So placing a hold reads the balance and needs no commit, and a killed process leaves none behind.
 */
export class TextHolds {
  readonly #parts: Parts
  readonly #open = new OpenTextHolds()
  /** The holds that the running transaction ends. */
  #ended: TextHold[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    parts.transactions.join({
      afterCommit: () => this.#tellEnded(),
      afterRollback: () => this.#reopenEnded(),
    })
  }

  /** The amount of all open text holds together. */
  held(): NanoUsd {
    return this.#open.sum()
  }

  place(hold: Hold): HoldOutcome {
    const open = this.#open.find(hold)
    if (open !== undefined) {
      if (open.amount !== hold.amount) throw anotherHold(hold.id)
      return { outcome: 'held', hold: open }
    }
    const books = this.#parts.booksOfAccounts.of(hold.accountId)
    if (!canHold(books.free, hold.amount)) return refusalFor(books)
    const placed = new TextHold(hold, books)
    this.#open.add(placed)
    return { outcome: 'held', hold: placed }
  }

  async capture(hold: Hold, charge: Charge, groupCommit: GroupCommit): Promise<Captured> {
    const open = this.#open.find(hold)
    if (open !== undefined) open.capturesWaiting += 1
    try {
      return await groupCommit.run(() => this.#capture(hold, charge))
    } finally {
      if (open !== undefined) open.capturesWaiting -= 1
    }
  }

  async release(hold: Hold, groupCommit: GroupCommit): Promise<void> {
    const open = this.#open.find(hold)
    if (open === undefined) return
    if (open.capturesWaiting > 0) {
      // A capture was asked for first. This frees the hold only if the capture fails.
      await groupCommit.run(() => {
        if (open.isOpen) this.#end(open)
      })
      return
    }
    this.#open.remove(open)
    this.#parts.freedHints.tell(open.accountId)
  }

  /** Inside a step. */
  #capture(hold: Hold, charge: Charge): Captured {
    const { journal, charges } = this.#parts
    const { id, accountId } = hold
    const { cost, atMs } = charge
    const open = this.#open.find(hold)
    if (open === undefined) return charges.outcome({ id, accountId, cost })
    const { kind, amount, books } = open
    const { movements, shortfall } = capturing({ kind, amount, isVolatile: true }, cost)
    const operationId = cost === 0n ? null : journal.nextOperationId
    const isFirst = charges.insert(books, charge, { id, shortfall, operationId })
    this.#end(open)
    // The id was charged before this hold was placed with it. It is charged only once.
    if (!isFirst) return charges.outcome({ id, accountId, cost })
    journal.write(books, { kind: 'charge', subject: id, movements, atMs })
    return { cost, shortfall }
  }

  /** Inside a step: no other code runs before the commit or rollback, so none sees the money free in between. */
  #end(hold: TextHold): void {
    this.#open.remove(hold)
    this.#ended.push(hold)
  }

  #tellEnded(): void {
    const ended = this.#ended
    this.#ended = []
    for (const { accountId } of ended) this.#parts.freedHints.tell(accountId)
  }

  #reopenEnded(): void {
    for (const hold of this.#ended) this.#open.add(hold)
    this.#ended = []
  }
}
