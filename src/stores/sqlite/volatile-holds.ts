import type { Id } from '../../domain/ids.ts'
import { canHold, capturing } from '../../domain/ledger/hold.ts'
import { addUsd, subtractUsd, type NanoUsd } from '../../domain/money.ts'
import type { Captured, Charge, Hold, HoldOutcome, Ledger } from '../../gateway/ports/ledger.ts'
import { freeOf, refusalFor, type BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Journal } from './journal.ts'
import { OpenHold, OpenHolds } from './open-holds.ts'

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
  const open = new OpenHolds()
  let ended: OpenHold[] = []

  groupCommit.join({
    expected: () => open.size,
    afterCommit() {
      for (const { accountId } of ended) booksOfAccounts.tellFreed(accountId)
      ended = []
    },
    afterRollback() {
      for (const hold of ended) remember(hold)
      ended = []
    },
  })

  /** Undefined where it is not open. Throws a RangeError where its id is another hold's. */
  function findOpen({ id, accountId }: Pick<Hold, 'id' | 'accountId'>): OpenHold | undefined {
    const found = open.find(id.key)
    if (found !== undefined && (found.id.tail !== id.tail || found.accountId !== accountId))
      throw anotherHold(id)
    return found
  }

  function place(hold: Hold): HoldOutcome {
    const same = findOpen(hold)
    if (same !== undefined && same.amount !== hold.amount) throw anotherHold(hold.id)
    if (same !== undefined) return { outcome: 'held', hold: same }
    const books = booksOfAccounts.of(hold.accountId)
    if (!canHold(freeOf(books), hold.amount)) return refusalFor(books)
    const placed = new OpenHold(hold, books)
    remember(placed)
    return { outcome: 'held', hold: placed }
  }

  function remember(hold: OpenHold): void {
    const { books, amount } = hold
    open.add(hold)
    books.heldInMemory = addUsd(books.heldInMemory, amount)
    books.holdsInMemory += 1
  }

  function forget(hold: OpenHold): void {
    const { books, amount } = hold
    open.remove(hold)
    books.heldInMemory = subtractUsd(books.heldInMemory, amount)
    books.holdsInMemory -= 1
  }

  /** Inside a step: to the world outside it ends with the commit, because nobody can look in between. */
  function end(hold: OpenHold): void {
    forget(hold)
    ended.push(hold)
  }

  /** Inside a step. `found` was its hold when the step was added, and may have ended since. */
  function capture(hold: Hold, found: OpenHold | undefined, charge: Charge): Captured {
    const { id, accountId } = hold
    const { cost, atMs } = charge
    const placed = found?.isOpen === true ? found : findOpen(hold)
    if (placed === undefined) return charges.outcome({ id, accountId, cost })
    const { kind, amount, books } = placed
    const { movements, shortfall } = capturing({ kind, amount, isVolatile: true }, cost)
    const operationId = cost === 0n ? null : journal.nextOperationId
    const isFirst = charges.insert(books, charge, { id, shortfall, operationId })
    end(placed)
    // The id had been charged before this hold of the same id was placed: once is enough.
    if (!isFirst) return charges.outcome({ id, accountId, cost })
    journal.write(books, { kind: 'charge', subject: id, movements, atMs })
    return { cost, shortfall }
  }

  return {
    held: () => open.sum(),
    placeHold(request) {
      try {
        return place(request)
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
          run: () => void (captured = capture(hold, found, charge)),
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
        // A capture came first. It keeps its turn, and this frees only what it leaves open.
        if (found.capturesWaiting > 0)
          return groupCommit.run(() => {
            if (found.isOpen) end(found)
          })
        forget(found)
        return booksOfAccounts.tellFreed(found.accountId)
      } catch (error) {
        return Promise.reject(error)
      }
    },
  }
}

function anotherHold(id: Id): RangeError {
  return new RangeError(`The id ${id.key} was given to another hold.`)
}
