import type { Id } from '../../domain/ids.ts'
import { canHold, capturing, type HoldTerms } from '../../domain/ledger/hold.ts'
import { addUsd, subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { Captured, Charge, Hold, HoldOutcome, Ledger } from '../../gateway/ports/ledger.ts'
import { freeOf, refusalFor, type AccountBooks, type BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Journal } from './journal.ts'

/** How each kind of hold is placed and ended. */
export type Holds = Pick<Ledger, 'placeHold' | 'captureHold' | 'releaseHold'>

/**
 * The holds of running text requests. They are only remembered: this process alone can spend the money, and the requests
 * die with it. So placing one is a look at the balance and costs no commit, and a killed process leaves none behind.
 */
export function createVolatileHolds(parts: {
  readonly groupCommit: GroupCommit
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
}): Holds & { readonly held: () => NanoUsd } {
  const { groupCommit, booksOfAccounts, journal, charges } = parts
  const open = new Map<bigint, OpenHold>()
  let held = ZERO
  let ended: OpenHold[] = []

  groupCommit.join({
    // With the commit and not a moment later, so that what is free is never counted twice nor missed.
    afterCommit() {
      for (const hold of ended) free(hold)
      ended = []
    },
    afterRollback() {
      for (const hold of ended) hold.isEnded = false
      ended = []
    },
  })

  /** Undefined where it is not open. Throws a RangeError where its id is another hold's. */
  function findOpen({ id, accountId }: Pick<Hold, 'id' | 'accountId'>): OpenHold | undefined {
    const found = open.get(id.key)
    if (found === undefined || found.isEnded) return undefined
    if (found.hold.id.tail !== id.tail || found.hold.accountId !== accountId) throw anotherHold(id)
    return found
  }

  function place(hold: Hold): HoldOutcome {
    const same = findOpen(hold)
    if (same !== undefined && same.hold.amount !== hold.amount) throw anotherHold(hold.id)
    if (same !== undefined) return { outcome: 'held', hold: same.hold }
    const books = booksOfAccounts.of(hold.accountId)
    if (!canHold(freeOf(books), hold.amount)) return refusalFor(books)
    open.set(hold.id.key, { hold, books, endsWaiting: 0, isEnded: false })
    books.heldInMemory = addUsd(books.heldInMemory, hold.amount)
    books.holdsInMemory += 1
    held = addUsd(held, hold.amount)
    return { outcome: 'held', hold }
  }

  function free({ hold, books }: OpenHold): void {
    if (!open.delete(hold.id.key)) return
    books.heldInMemory = subtractUsd(books.heldInMemory, hold.amount)
    books.holdsInMemory -= 1
    held = subtractUsd(held, hold.amount)
  }

  /** Inside a step. */
  function end(hold: OpenHold): void {
    hold.isEnded = true
    ended.push(hold)
  }

  /** Inside a step. */
  function capture(hold: Hold, charge: Charge): Captured {
    const { id, accountId } = hold
    const found = findOpen(hold)
    if (found === undefined) return charges.outcome({ id, accountId, cost: charge.cost })
    const { movements, shortfall } = capturing(termsOf(found.hold), charge.cost)
    const operationId = charge.cost === 0n ? null : journal.nextOperationId
    const isFirst = charges.insert(found.books, charge, { id, shortfall, operationId })
    end(found)
    // The id had been charged before this hold of the same id was placed: once is enough.
    if (!isFirst) return charges.outcome({ id, accountId, cost: charge.cost })
    journal.write(found.books, { kind: 'charge', subject: id, movements, atMs: charge.atMs })
    return { cost: charge.cost, shortfall }
  }

  return {
    held: () => held,
    async placeHold({ id, accountId, kind, amount }) {
      return place({ id, accountId, kind, amount })
    },
    async captureHold(hold, charge) {
      const found = findOpen(hold)
      if (found !== undefined) found.endsWaiting += 1
      try {
        return await groupCommit.run(() => capture(hold, charge))
      } finally {
        if (found !== undefined) found.endsWaiting -= 1
      }
    },
    async releaseHold(hold) {
      const found = findOpen(hold)
      if (found === undefined) return
      if (found.endsWaiting === 0) return free(found)
      // A capture came first. It keeps its turn, and this frees only what it leaves open.
      await groupCommit.run(() => {
        if (!found.isEnded) end(found)
      })
    },
  }
}

type OpenHold = {
  readonly hold: Hold
  readonly books: AccountBooks
  /** How many steps that will end it wait for their turn. */
  endsWaiting: number
  /** Ended by the running transaction, which may yet be rolled back. */
  isEnded: boolean
}

function termsOf({ kind, amount }: Hold): HoldTerms {
  return { kind, amount, isVolatile: true }
}

function anotherHold(id: Id): RangeError {
  return new RangeError(`The id ${id.key} was given to another hold.`)
}
