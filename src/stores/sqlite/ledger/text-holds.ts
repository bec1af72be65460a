import { closedAccountError } from '../../../domain/accounts/account.ts'
import { idNumber, type Id } from '../../../domain/ids.ts'
import type { HoldKind } from '../../../domain/ledger/books.ts'
import { canHold, requireFittingCharge } from '../../../domain/ledger/hold.ts'
import { addUsd, subtractUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import { inputTokens, outputTokens } from '../../../domain/pricing/usage.ts'
import type { Captured, Hold, HoldOutcome } from '../../../gateway/ports/ledger/ledger.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import { repeatedCapture } from '../../books/rows/charge-rows.ts'
import {
  anotherHold,
  captureTextHold,
  isTextHoldPlaced,
  refusalOfHold,
  type TextHoldState,
  type TextHoldTerms,
} from '../../books/ledger/holds.ts'
import type { Charges } from '../../books/ledger/charges.ts'
import type { Journal } from '../../books/ledger/journal.ts'
import type { Step } from '../../books/steps.ts'
import { scopedDemand, type ScopedDemand } from '../../books/limits/account-limits.ts'
import type { AccountBooks, BooksOfAccounts } from './account-books.ts'
import type { StepDriver } from '../commits/step-runner.ts'
import type { HintBroadcast } from './freed-hints.ts'
import type { GroupCommit } from '../commits/group-commit.ts'
import type { HoldOwner } from './hold-owner.ts'
import type { LimitSteps } from '../limits/limit-steps.ts'
import type { Transactions } from '../commits/transactions.ts'

type Parts = {
  readonly transactions: Transactions
  readonly stepDriver: StepDriver
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
  readonly hints: HintBroadcast
  readonly limits: LimitSteps
  readonly textHolds: OpenTextHolds
}

type UsedTokens = { readonly tokens: number; readonly atMs: number }

/** A hold that the running transaction ends, and its state before. */
type Ended = { readonly hold: TextHold; readonly before: 'open' | 'expired' }

/**
 * The holds of running text requests, kept in memory only: no other process can spend the money, and a request dies
 * with its process. So placing a hold reads the balance and needs no commit, and a killed process leaves none behind.
 */
export class TextHolds {
  readonly #parts: Parts
  readonly #holds: OpenTextHolds
  #ended: Ended[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    this.#holds = parts.textHolds
    parts.transactions.join({
      afterCommit: () => this.#reportEnded(),
      afterRollback: () => this.#restoreEnded(),
    })
  }

  /** The amount of all open text holds together. */
  held(): NanoUsd {
    return this.#holds.sum()
  }

  /** Takes the limits of its scopes and the money, or nothing. */
  place(hold: TextHoldTerms, owner: HoldOwner): HoldOutcome {
    const same = this.#holds.find(hold)
    if (same !== undefined && isTextHoldPlaced(same, hold)) return { outcome: 'held', hold: same }
    const books = this.#parts.booksOfAccounts.of(hold.accountId)
    if (books.current.isClosed) throw closedAccountError()
    const isCovered = canHold(books.free, hold.amount)
    const scoped = hold.demand && scopedDemand(hold.demand)
    // The limits are asked first, so that a limited request never waits for money.
    const taken =
      scoped && books.mayBeLimited
        ? this.#parts.limits.take(books, scoped, { nowMs: owner.nowMs(), isCovered })
        : undefined
    if (taken?.outcome === 'limited') return taken
    if (!isCovered) return refusalOfHold(books)
    const placed = new TextHold(hold, {
      books,
      owner: owner.number,
      demand: scoped,
      expiresAtMs: owner.expiresAtMonotonicMs(),
    })
    this.#holds.add(placed)
    return { outcome: 'held', hold: placed, ...(taken && { rates: taken.rates }) }
  }

  async capture(hold: Hold, charge: Charge, groupCommit: GroupCommit): Promise<Captured> {
    const found = this.#holds.find(hold)
    if (found !== undefined) found.capturesWaiting += 1
    try {
      return await groupCommit.run(() => this.#parts.stepDriver.run(this.#capture(hold, charge)))
    } finally {
      if (found !== undefined) found.capturesWaiting -= 1
    }
  }

  release(hold: Hold, atMs: number, groupCommit: GroupCommit): Promise<void> {
    const found = this.#holds.find(hold)
    if (found === undefined) return Promise.resolve()
    // If a capture was asked for first, this frees the hold only if the capture fails.
    if (found.capturesWaiting > 0) return groupCommit.run(() => this.#end(found, { tokens: 0, atMs }))
    this.#giveBack(found, { tokens: 0, atMs })
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
  expire(
    hold: Hold,
    { monotonicMs, atMs }: { readonly monotonicMs: number; readonly atMs: number },
  ): boolean {
    const found = this.#holds.find(hold)
    const isDue = found?.state === 'open' && found.expiresAtMs <= monotonicMs
    // A waiting capture ends the hold within milliseconds.
    if (!isDue || found.capturesWaiting > 0) return false
    this.#giveBack(found, { tokens: 0, atMs })
    this.#holds.expire(found)
    this.#parts.hints.report(found.accountId)
    return true
  }

  /** Forgets the holds of a node that closes: its requests have ended. */
  forget(owner: HoldOwner): void {
    for (const hold of this.#holds.of(owner.number)) {
      this.#giveBack(hold, { tokens: 0, atMs: owner.nowMs() })
      this.#holds.remove(hold)
      this.#parts.hints.report(hold.accountId)
    }
  }

  *#capture(hold: Hold, charge: Charge): Step<Captured> {
    const { journal, charges } = this.#parts
    const found = this.#holds.find(hold)
    requireFittingCharge('text', charge.kind)
    const write = found && captureTextHold(found, charge, found.books.nextOperationId())
    if (found === undefined || write === undefined)
      return repeatedCapture(hold, charge.cost, yield* charges.first(hold.id))
    const isFirst = yield* charges.insert(found.books, charge, write.booking)
    const tokens = charge.kind === 'text' ? inputTokens(charge.usage) + outputTokens(charge.usage) : 0
    this.#end(found, { tokens, atMs: charge.atMs })
    // The id was charged before this hold was placed with it. It is charged only once.
    if (!isFirst) return repeatedCapture(hold, charge.cost, yield* charges.first(hold.id))
    yield* journal.write(found.books, write.operation)
    return write.captured
  }

  /**
   * Inside a step: ends a hold that has not ended. No other code runs before the commit or rollback, so none sees the
   * money free in between.
   */
  #end(hold: TextHold, used: UsedTokens): void {
    const before = hold.state
    if (before === 'ended') return
    this.#giveBack(hold, used)
    this.#holds.remove(hold)
    this.#ended.push({ hold, before })
  }

  #giveBack({ books, demand, state }: TextHold, used: UsedTokens): void {
    if (demand === undefined || !books.mayBeLimited) return
    const { limits } = this.#parts
    if (state === 'open') limits.giveBack(books, demand, used)
    // An expired hold gave back what it took when it expired.
    else if (used.tokens > 0) limits.addDebt(books, demand, used)
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

/** A text hold, which is only in memory, with the books of its account. */
export class TextHold implements Hold {
  readonly id: Id
  /** The id as one number. It is kept because making it costs more than finding the hold by it. */
  readonly number: bigint
  readonly accountId: number
  readonly kind: HoldKind = 'text'
  readonly amount: NanoUsd
  readonly books: AccountBooks
  /** The node that placed it. */
  readonly owner: bigint
  /** Its part of the limits of its scopes while it is open. Undefined for none. */
  readonly demand: ScopedDemand | undefined
  /** On the monotonic clock. */
  expiresAtMs: number
  /** After it expired, a hold is kept until its request ends, so that the request can still be charged. */
  state: TextHoldState = 'ended'
  /** The number of its captures that wait for their commit. */
  capturesWaiting = 0
  /** The holds that it is one of until it ends. */
  among: OpenTextHolds | undefined

  constructor(
    { id, accountId, amount }: Hold,
    of: {
      readonly books: AccountBooks
      readonly owner: bigint
      readonly demand: ScopedDemand | undefined
      readonly expiresAtMs: number
    },
  ) {
    this.id = id
    this.number = idNumber(id)
    this.accountId = accountId
    this.amount = amount
    this.books = of.books
    this.owner = of.owner
    this.demand = of.demand
    this.expiresAtMs = of.expiresAtMs
  }
}

/** The text holds that have not ended, by their ids. The books of their accounts count what they hold. */
export class OpenTextHolds {
  readonly #holds = new Map<bigint, TextHold>()

  /** Undefined if it has ended. Throws a RangeError if the id is of a hold of another account. */
  find(hold: Pick<Hold, 'id' | 'accountId'>): TextHold | undefined {
    // The hold that was placed is itself the answer. Only other values are looked up by their id.
    if (hold instanceof TextHold && hold.among === this) return hold
    const found = this.#holds.get(hold instanceof TextHold ? hold.number : idNumber(hold.id))
    if (found !== undefined && found.accountId !== hold.accountId) throw anotherHold(hold.id)
    return found
  }

  /** Adds an ended hold in another state. Its id must not be in use. */
  add(hold: TextHold, state: 'open' | 'expired' = 'open'): void {
    this.#holds.set(hold.number, hold)
    hold.among = this
    hold.state = state
    hold.books.textHolds += 1
    if (state === 'open') hold.books.heldText = addUsd(hold.books.heldText, hold.amount)
  }

  /** Frees the money of an open hold and keeps the hold. */
  expire(hold: TextHold): void {
    hold.state = 'expired'
    hold.books.heldText = subtractUsd(hold.books.heldText, hold.amount)
  }

  /** The hold must not have ended. */
  remove(hold: TextHold): void {
    this.#holds.delete(hold.number)
    hold.among = undefined
    if (hold.state === 'open') hold.books.heldText = subtractUsd(hold.books.heldText, hold.amount)
    hold.books.textHolds -= 1
    hold.state = 'ended'
  }

  /** The open holds. */
  *open(): Generator<TextHold> {
    for (const hold of this.#holds.values()) if (hold.state === 'open') yield hold
  }

  /** The demands of the open holds of an account. Reads all holds: limits are seldom read or changed. */
  demandsOf(accountId: number): readonly ScopedDemand[] {
    const holds = [...this.open()].filter(hold => hold.accountId === accountId)
    return holds.flatMap(({ demand }) => (demand === undefined ? [] : [demand]))
  }

  /** The holds of an owner that have not ended. */
  of(owner: bigint): readonly TextHold[] {
    return [...this.#holds.values()].filter(hold => hold.owner === owner)
  }

  /** The amount of all open holds together. */
  sum(): NanoUsd {
    let sum = ZERO
    for (const { amount } of this.open()) sum = addUsd(sum, amount)
    return sum
  }
}
