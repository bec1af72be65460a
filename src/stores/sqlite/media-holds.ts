import type { Database, Statement } from 'bun:sqlite'
import { formatId } from '../../domain/ids.ts'
import type { Captured, Hold, HoldOutcome } from '../../gateway/ports/ledger.ts'
import type { Charge } from '../../gateway/ports/charge.ts'
import {
  captureMediaHold,
  freeMediaHold,
  holdFrom,
  placeMediaHold,
  type EndedHold,
  type HoldRow,
  type MediaHold,
} from '../books/holds.ts'
import type { BooksOfAccounts } from './account-books.ts'
import type { Charges } from './charges.ts'
import type { Tables } from './hashed-table.ts'
import type { HoldOwner } from './hold-owner.ts'
import type { Journal } from './journal.ts'

type Parts = {
  readonly database: Database
  readonly tables: Tables
  readonly booksOfAccounts: BooksOfAccounts
  readonly journal: Journal
  readonly charges: Charges
}

/** The steps of media holds. These are rows with their money moved, because a job outlives its process. */
export class MediaHolds {
  readonly #parts: Parts
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = statements(parts.database)
  }

  /** Inside a step: moves the money, or refuses and writes nothing. */
  place(hold: MediaHold, owner: HoldOwner, atMs: number): HoldOutcome {
    const { booksOfAccounts, journal, tables } = this.#parts
    const books = booksOfAccounts.of(hold.accountId)
    const by = { owner: owner.number, expiresAtMs: owner.expiresAtMs(), atMs }
    const { outcome, write } = placeMediaHold({ ...this.#factsOf(hold), books }, hold, by)
    if (write !== undefined) {
      journal.write(books, write.operation)
      tables.holds.insert(write.row)
    }
    return outcome
  }

  /** Inside a step: takes the cost and frees the rest. */
  capture(hold: Hold, charge: Charge): Captured {
    const { booksOfAccounts, charges } = this.#parts
    const facts = { ...this.#factsOf(hold), first: charges.first(hold.id) }
    const { captured, write } = captureMediaHold(facts, hold, charge)
    if (write !== undefined) {
      charges.insert(booksOfAccounts.of(hold.accountId), charge, write.booking)
      this.#end(hold, write)
    }
    return captured
  }

  /** Inside a step: frees the whole hold. Changes nothing if it is not open. */
  release(hold: Hold, atMs: number): void {
    const write = freeMediaHold(this.#factsOf(hold), hold, { state: 'released', atMs })
    if (write !== undefined) this.#end(hold, write)
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
    const write = freeMediaHold(this.#factsOf(hold), hold, { state: 'expired', atMs, nowMs })
    if (write !== undefined) this.#end(hold, write)
    return write !== undefined
  }

  #factsOf({ id }: Hold): { readonly found: HoldRow | null; readonly nextOperationId: bigint } {
    const found = this.#sql.select.get(id.key, id.tail)
    return { found, nextOperationId: this.#parts.journal.nextOperationId }
  }

  #end({ id, accountId }: Hold, { operation, end }: EndedHold): void {
    const { booksOfAccounts, journal } = this.#parts
    journal.write(booksOfAccounts.of(accountId), operation)
    const { changes } = this.#sql.resolve.run(end.state, end.resolvedBy, end.atMs, id.key, id.tail)
    if (changes !== 1) throw new Error(`${formatId('hold', id)} could not be ${end.state}: it is not open.`)
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
