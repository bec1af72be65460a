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
  let ended: OpenHold[] = []

  groupCommit.join({
    expected: () => open.size,
    afterCommit: () => (ended = []),
    afterRollback() {
      for (const hold of ended) remember(hold)
      ended = []
    },
  })

  /** Undefined where it is not open. Throws a RangeError where its id is another hold's. */
  function findOpen({ id, accountId }: Pick<Hold, 'id' | 'accountId'>): OpenHold | undefined {
    const found = open.get(id.key)
    if (found === undefined) return undefined
    if (found.hold.id.tail !== id.tail || found.hold.accountId !== accountId) throw anotherHold(id)
    return found
  }

  function place(hold: Hold): HoldOutcome {
    const same = findOpen(hold)
    if (same !== undefined && same.hold.amount !== hold.amount) throw anotherHold(hold.id)
    if (same !== undefined) return { outcome: 'held', hold: same.hold }
    const books = booksOfAccounts.of(hold.accountId)
    if (!canHold(freeOf(books), hold.amount)) return refusalFor(books)
    remember({ hold, books, capturesWaiting: 0 })
    return { outcome: 'held', hold }
  }

  function remember(placed: OpenHold): void {
    const { hold, books } = placed
    open.set(hold.id.key, placed)
    books.heldInMemory = addUsd(books.heldInMemory, hold.amount)
    books.holdsInMemory += 1
  }

  function forget({ hold, books }: OpenHold): void {
    open.delete(hold.id.key)
    books.heldInMemory = subtractUsd(books.heldInMemory, hold.amount)
    books.holdsInMemory -= 1
  }

  /** Inside a step: to the world outside it ends with the commit, because nobody can look in between. */
  function end(placed: OpenHold): void {
    forget(placed)
    ended.push(placed)
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
    held() {
      // Read with the metrics, so that no hold pays for the sum.
      let held = ZERO
      for (const { hold } of open.values()) held = addUsd(held, hold.amount)
      return held
    },
    placeHold({ id, accountId, kind, amount }) {
      try {
        return place({ id, accountId, kind, amount })
      } catch (error) {
        return Promise.reject(error)
      }
    },
    captureHold: (hold, charge) =>
      new Promise((resolve, reject) => {
        const found = findOpen(hold)
        if (found !== undefined) found.capturesWaiting += 1
        let captured: Captured
        groupCommit.add({
          run: () => void (captured = capture(hold, charge)),
          committed() {
            if (found !== undefined) found.capturesWaiting -= 1
            resolve(captured)
          },
          failed(error) {
            if (found !== undefined) found.capturesWaiting -= 1
            reject(error)
          },
        })
      }),
    releaseHold(hold) {
      try {
        const found = findOpen(hold)
        if (found === undefined) return undefined
        if (found.capturesWaiting === 0) return forget(found)
        // A capture came first. It keeps its turn, and this frees only what it leaves open.
        return groupCommit.run(() => {
          if (open.get(hold.id.key) === found) end(found)
        })
      } catch (error) {
        return Promise.reject(error)
      }
    },
  }
}

type OpenHold = {
  readonly hold: Hold
  readonly books: AccountBooks
  /** How many captures of it wait for their turn. */
  capturesWaiting: number
}

function termsOf({ kind, amount }: Hold): HoldTerms {
  return { kind, amount, isVolatile: true }
}

function anotherHold(id: Id): RangeError {
  return new RangeError(`The id ${id.key} was given to another hold.`)
}
