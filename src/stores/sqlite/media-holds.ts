import type { Database, Statement } from 'bun:sqlite'
import { formatId, type Id } from '../../domain/ids.ts'
import type { HoldKind } from '../../domain/ledger/books.ts'
import {
  canHold,
  capturing,
  holdTransitions,
  placing,
  releasing,
  requireFittingCharge,
  type HoldState,
  type HoldTerms,
} from '../../domain/ledger/hold.ts'
import { nanoUsd } from '../../domain/money.ts'
import type { Captured, Charge, Hold, HoldOutcome } from '../../gateway/ports/ledger.ts'
import { refusalFor, type BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { HoldOwner } from './hold-owner.ts'
import type { Journal } from './journal.ts'
import { anotherHold } from './open-text-holds.ts'
import type { Tables } from './tables.ts'

type Parts = {
  readonly database: Database
  readonly tables: Tables
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
}

/** A media hold, and the job that it belongs to. */
export type MediaHold = Hold & { readonly job?: Id }

/** The steps of media holds. These are rows with their money moved, because a job outlives its process. */
export class MediaHolds {
  readonly #parts: Parts
  readonly #table: Tables['holds']
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#table = parts.tables.holds
    this.#sql = statements(parts.database)
  }

  /** Inside a step: moves the money, or refuses and writes nothing. */
  place({ job, ...hold }: MediaHold, owner: HoldOwner, atMs: number): HoldOutcome {
    const { booksOfAccounts, journal } = this.#parts
    const { id, accountId, kind, amount } = hold
    const state = this.#find(hold)?.state
    if (state === 'open') return { outcome: 'held', hold }
    if (state !== undefined) throw new RangeError(`${formatId('hold', id)} is ${state} already.`)
    const books = booksOfAccounts.of(accountId)
    if (!canHold(books.free, amount)) return refusalFor(books)
    const movements = placing(termsOf(hold))
    const placedBy = journal.write(books, { kind: 'hold', subject: id, movements, atMs })
    const expiresAtMs = job === undefined ? owner.expiresAtMs() : null
    const { key: jobKey = null, tail: jobTail = null } = job ?? {}
    this.#table.insert({
      id_key: id.key,
      id_tail: id.tail,
      account_id: accountId,
      kind,
      amount,
      placed_by: placedBy,
      placed_at_ms: atMs,
      owner: owner.number,
      job_key: jobKey,
      job_tail: jobTail,
      state: 'open',
      expires_at_ms: expiresAtMs,
    })
    return { outcome: 'held', hold }
  }

  /** Inside a step: takes the cost and frees the rest. */
  capture(hold: Hold, charge: Charge): Captured {
    const { booksOfAccounts, journal, charges } = this.#parts
    const { id, accountId } = hold
    const { cost, atMs } = charge
    requireFittingCharge('media', charge.kind)
    // A hold that has expired, was released or was never placed has no charge, so `outcome` throws.
    if (this.#find(hold)?.state !== 'open') return charges.outcome({ id, accountId, cost })
    const books = booksOfAccounts.of(accountId)
    const { movements, shortfall } = capturing(termsOf(hold), cost)
    const operationId = cost === 0n ? null : journal.nextOperationId
    if (!charges.insert(books, charge, { id, shortfall, operationId }))
      throw new RangeError(`${formatId('hold', id)} was charged without its hold.`)
    const resolvedBy = journal.write(books, { kind: 'capture', subject: id, movements, atMs })
    this.#end(hold, 'captured', { resolvedBy, atMs })
    return { cost, shortfall }
  }

  /** Inside a step: frees the whole hold. Changes nothing if it is not open. */
  release(hold: Hold, atMs: number): void {
    if (this.#find(hold)?.state === 'open') this.#free(hold, 'released', atMs)
  }

  /** Inside a step: extends the expiry of the open holds of an owner. */
  renew(owner: HoldOwner): void {
    this.#sql.renew.run(owner.expiresAtMs(), owner.number)
  }

  /** At most `limit` open holds whose time is over, oldest first. */
  expired(nowMs: number, limit: number): readonly Hold[] {
    return this.#sql.selectExpired.all(nowMs, limit).map(holdFrom)
  }

  /** Inside a step: frees a hold whose time is over. Returns false, and writes nothing, for any other hold. */
  expire(hold: Hold, { nowMs, atMs }: { readonly nowMs: number; readonly atMs: number }): boolean {
    const row = this.#find(hold)
    const isDue = row?.state === 'open' && row.expires_at_ms !== null && row.expires_at_ms <= BigInt(nowMs)
    if (isDue) this.#free(hold, 'expired', atMs)
    return isDue
  }

  #free(hold: Hold, state: 'released' | 'expired', atMs: number): void {
    const { booksOfAccounts, journal } = this.#parts
    const books = booksOfAccounts.of(hold.accountId)
    const movements = releasing(termsOf(hold))
    const kind = state === 'released' ? 'release' : 'expire'
    const resolvedBy = journal.write(books, { kind, subject: hold.id, movements, atMs })
    this.#end(hold, state, { resolvedBy, atMs })
  }

  /** Undefined if it was never placed. Throws a RangeError if the id is of another hold. */
  #find({ id, accountId, kind, amount }: Hold): HoldRow | undefined {
    const row = this.#sql.select.get(id.key, id.tail)
    if (row === null) return undefined
    const isSame = Number(row.account_id) === accountId && row.kind === kind && row.amount === amount
    if (!isSame) throw anotherHold(id)
    return row
  }

  #end(
    { id }: Hold,
    state: (typeof holdTransitions)['open'][number],
    by: { readonly resolvedBy: bigint | null; readonly atMs: number },
  ): void {
    const { changes } = this.#sql.resolve.run(state, by.resolvedBy, by.atMs, id.key, id.tail)
    if (changes !== 1) throw new Error(`${formatId('hold', id)} could not be ${state}: it is not open.`)
  }
}

function statements(database: Database) {
  const columns = 'id_key, id_tail, account_id, kind, amount, state, expires_at_ms'
  return {
    select: database.prepare<HoldRow, [bigint, bigint]>(
      `SELECT ${columns} FROM holds WHERE id_key = ? AND id_tail = ?`,
    ),
    resolve: database.prepare(
      `UPDATE holds SET state = ?, resolved_by = ?, resolved_at_ms = ?
        WHERE id_key = ? AND id_tail = ? AND state = 'open'`,
    ),
    renew: database.prepare(
      `UPDATE holds SET expires_at_ms = ? WHERE owner = ? AND state = 'open' AND expires_at_ms IS NOT NULL`,
    ),
    selectExpired: database.prepare<HoldRow, [number, number]>(
      `SELECT ${columns} FROM holds
        WHERE state = 'open' AND expires_at_ms IS NOT NULL AND expires_at_ms <= ?
        ORDER BY expires_at_ms LIMIT ?`,
    ),
  } satisfies Record<string, Statement>
}

type HoldRow = {
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  kind: HoldKind
  amount: bigint
  state: HoldState
  /** Null for the hold of a job. */
  expires_at_ms: bigint | null
}

function holdFrom({ id_key: key, id_tail: tail, account_id, kind, amount }: HoldRow): Hold {
  return { id: { key, tail }, accountId: Number(account_id), kind, amount: nanoUsd(amount) }
}

function termsOf({ kind, amount }: Hold): HoldTerms {
  return { kind, amount, isVolatile: false }
}
