import type { Database } from 'bun:sqlite'
import {
  canHold,
  capturing,
  following,
  placing,
  releasing,
  type HoldState,
  type HoldTerms,
} from '../../domain/ledger/hold.ts'
import type { HoldKind } from '../../domain/ledger/books.ts'
import type { Captured, Charge, Hold, HoldOutcome } from '../../gateway/ports/ledger.ts'
import { freeOf, refusalFor, type BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Journal } from './journal.ts'
import type { Holds } from './volatile-holds.ts'

/** The holds of media jobs: rows, with their money moved, because a job outlives the process that began it. */
export function createDurableHolds(parts: {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
}): Holds {
  const { database, groupCommit, booksOfAccounts, journal, charges } = parts
  const select = database.prepare<HoldRow, [bigint]>(
    'SELECT tail, account_id, kind, amount, state FROM holds WHERE id = ?',
  )
  const insert = database.prepare(
    `INSERT INTO holds (id, tail, account_id, kind, amount, state, placed_by, placed_at_ms)
      VALUES (?, ?, ?, ?, ?, 'open', ?, ?)`,
  )
  const resolve = database.prepare(
    `UPDATE holds SET state = ?, resolved_by = ?, resolved_at_ms = ? WHERE id = ? AND state = 'open'`,
  )

  /** Undefined where it was never placed. Throws a RangeError where its id is another hold's. */
  function find({ id, accountId, kind, amount }: Hold): HoldRow | undefined {
    const row = select.get(id.key)
    if (row === null) return undefined
    const isSame =
      row.tail === id.tail &&
      Number(row.account_id) === accountId &&
      row.kind === kind &&
      row.amount === amount
    if (!isSame) throw new RangeError(`The id ${id.key} was given to another hold.`)
    return row
  }

  function place(hold: Hold, atMs: number): HoldOutcome {
    const { id, accountId, kind, amount } = hold
    const row = find(hold)
    if (row !== undefined && row.state !== 'open')
      throw new RangeError(`Hold ${id.key} was ${row.state} already.`)
    if (row !== undefined) return { outcome: 'held', hold }
    const books = booksOfAccounts.of(accountId)
    if (!canHold(freeOf(books), amount)) return refusalFor(books)
    const movements = placing(termsOf(hold))
    const placedBy = journal.write(books, { kind: 'hold', subject: id, movements, atMs })
    insert.run(id.key, id.tail, accountId, kind, amount, placedBy, atMs)
    return { outcome: 'held', hold }
  }

  function capture(hold: Hold, charge: Charge): Captured {
    const { id, accountId } = hold
    const { cost, atMs } = charge
    // A hold that was released or never placed has no charge either, and is refused there.
    if (find(hold)?.state !== 'open') return charges.outcome({ id, accountId, cost })
    const books = booksOfAccounts.of(accountId)
    const { movements, shortfall } = capturing(termsOf(hold), cost)
    const operationId = cost === 0n ? null : journal.nextOperationId
    if (!charges.insert(books, charge, { id, shortfall, operationId }))
      throw new RangeError(`The id ${id.key} was charged without its hold.`)
    end(hold, 'captured', journal.write(books, { kind: 'capture', subject: id, movements, atMs }), atMs)
    return { cost, shortfall }
  }

  function release(hold: Hold, atMs: number): void {
    if (find(hold)?.state !== 'open') return
    const movements = releasing(termsOf(hold))
    const books = booksOfAccounts.of(hold.accountId)
    end(hold, 'released', journal.write(books, { kind: 'release', subject: hold.id, movements, atMs }), atMs)
  }

  function end(
    hold: Hold,
    state: (typeof following)['open'][number],
    resolvedBy: bigint | null,
    atMs: number,
  ): void {
    const { changes } = resolve.run(state, resolvedBy, atMs, hold.id.key)
    if (changes !== 1) throw new Error(`Hold ${hold.id.key} could not be ${state}: it is not open.`)
  }

  return {
    placeHold: ({ atMs, ...hold }) => groupCommit.run(() => place(hold, atMs)),
    captureHold: (hold, charge) => groupCommit.run(() => capture(hold, charge)),
    releaseHold: (hold, atMs) => groupCommit.run(() => release(hold, atMs)),
  }
}

type HoldRow = {
  tail: bigint
  account_id: bigint
  kind: HoldKind
  amount: bigint
  state: HoldState
}

function termsOf({ kind, amount }: Hold): HoldTerms {
  return { kind, amount, isVolatile: false }
}
