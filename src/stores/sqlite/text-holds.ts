import { formatId } from '../../domain/ids.ts'
import { canHold, capturing, EXPIRED_TEXT_HOLD, requireFittingCharge } from '../../domain/ledger/hold.ts'
import type { NanoUsd } from '../../domain/money.ts'
import type { Captured, Charge, Hold, HoldOutcome } from '../../gateway/ports/ledger.ts'
import { refusalFor, type BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { HintBroadcast } from './freed-hints.ts'
import type { GroupCommit } from './group-commit.ts'
import type { HoldOwner } from './hold-owner.ts'
import type { Journal } from './journal.ts'
import { anotherHold, OpenTextHolds, TextHold } from './open-text-holds.ts'
import type { Transactions } from './transactions.ts'

type Parts = {
  readonly transactions: Transactions
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
  readonly hints: HintBroadcast
}

/** A hold that the running transaction ends, and its state before. */
type Ended = { readonly hold: TextHold; readonly before: 'open' | 'expired' }

/**
 * The holds of running text requests, kept in memory only: no other process can spend the money, and a request dies
 * with its process. So placing a hold reads the balance and needs no commit, and a killed process leaves none behind.
 */
export class TextHolds {
  readonly #parts: Parts
  readonly #holds = new OpenTextHolds()
  #ended: Ended[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    parts.transactions.join({
      afterCommit: () => this.#reportEnded(),
      afterRollback: () => this.#restoreEnded(),
    })
  }

  /** The amount of all open text holds together. */
  held(): NanoUsd {
    return this.#holds.sum()
  }

  place(hold: Hold, owner: HoldOwner): HoldOutcome {
    const same = this.#holds.find(hold)
    if (same !== undefined) {
      if (same.amount !== hold.amount) throw anotherHold(hold.id)
      if (same.state === 'expired') throw new RangeError(`${formatId('hold', hold.id)} has expired.`)
      return { outcome: 'held', hold: same }
    }
    const books = this.#parts.booksOfAccounts.of(hold.accountId)
    if (!canHold(books.free, hold.amount)) return refusalFor(books)
    const placed = new TextHold(hold, {
      books,
      owner: owner.number,
      expiresAtMs: owner.expiresAtMonotonicMs(),
    })
    this.#holds.add(placed)
    return { outcome: 'held', hold: placed }
  }

  async capture(hold: Hold, charge: Charge, groupCommit: GroupCommit): Promise<Captured> {
    const found = this.#holds.find(hold)
    if (found !== undefined) found.capturesWaiting += 1
    try {
      return await groupCommit.run(() => this.#capture(hold, charge))
    } finally {
      if (found !== undefined) found.capturesWaiting -= 1
    }
  }

  release(hold: Hold, groupCommit: GroupCommit): Promise<void> {
    const found = this.#holds.find(hold)
    if (found === undefined) return Promise.resolve()
    // If a capture was asked for first, this frees the hold only if the capture fails.
    if (found.capturesWaiting > 0) return groupCommit.run(() => this.#endIfOpen(found))
    this.#holds.remove(found)
    this.#parts.hints.report(found.accountId)
    return Promise.resolve()
  }

  renew(owner: HoldOwner): void {
    const expiresAtMs = owner.expiresAtMonotonicMs()
    for (const hold of this.#holds.open()) if (hold.owner === owner.number) hold.expiresAtMs = expiresAtMs
  }

  /** At most `limit` open holds whose time is over on the monotonic clock. */
  expired(monotonicMs: number, limit: number): readonly Hold[] {
    const expired: Hold[] = []
    for (const hold of this.#holds.open()) {
      if (expired.length >= limit) break
      if (hold.expiresAtMs <= monotonicMs) expired.push(hold)
    }
    return expired
  }

  /** Frees the money of a hold whose time is over on the monotonic clock. Its request can still be charged. */
  expire(hold: Hold, monotonicMs: number): boolean {
    const found = this.#holds.find(hold)
    const isDue = found?.state === 'open' && found.expiresAtMs <= monotonicMs
    // A waiting capture ends the hold within milliseconds.
    if (!isDue || found.capturesWaiting > 0) return false
    this.#holds.expire(found)
    this.#parts.hints.report(found.accountId)
    return true
  }

  /** Forgets the holds of a node that closes: its requests have ended. */
  forget(owner: HoldOwner): void {
    for (const hold of this.#holds.of(owner.number)) {
      this.#holds.remove(hold)
      this.#parts.hints.report(hold.accountId)
    }
  }

  /** Inside a step. */
  #capture(hold: Hold, charge: Charge): Captured {
    const { journal, charges } = this.#parts
    const { id, accountId } = hold
    const { cost, atMs } = charge
    requireFittingCharge('text', charge.kind)
    const found = this.#holds.find(hold)
    if (found === undefined || found.state === 'ended') return charges.outcome({ id, accountId, cost })
    const { kind, amount, books, state } = found
    const terms = state === 'expired' ? EXPIRED_TEXT_HOLD : { kind, amount, isVolatile: true }
    const { movements, shortfall } = capturing(terms, cost)
    const operationId = cost === 0n ? null : journal.nextOperationId
    const isFirst = charges.insert(books, charge, { id, shortfall, operationId })
    this.#end(found, state)
    // The id was charged before this hold was placed with it. It is charged only once.
    if (!isFirst) return charges.outcome({ id, accountId, cost })
    journal.write(books, { kind: 'charge', subject: id, movements, atMs })
    return { cost, shortfall }
  }

  /** Inside a step. */
  #endIfOpen(hold: TextHold): void {
    if (hold.state !== 'ended') this.#end(hold, hold.state)
  }

  /** Inside a step: no other code runs before the commit or rollback, so none sees the money free in between. */
  #end(hold: TextHold, before: Ended['before']): void {
    this.#holds.remove(hold)
    this.#ended.push({ hold, before })
  }

  #reportEnded(): void {
    const ended = this.#ended
    this.#ended = []
    for (const { hold } of ended) this.#parts.hints.report(hold.accountId)
  }

  #restoreEnded(): void {
    for (const { hold, before } of this.#ended) this.#holds.add(hold, before)
    this.#ended = []
  }
}
