import { formatId } from '../../../domain/ids.ts'
import type { Captured, Hold, HoldOutcome } from '../../../gateway/ports/ledger/ledger.ts'
import type { Charge } from '../../../gateway/ports/ledger/charge.ts'
import {
  captureMediaHold,
  freeMediaHold,
  holdFrom,
  placeMediaHold,
  type EndedHold,
  type HoldRow,
  type MediaHold,
} from './holds.ts'
import { holdsTable } from '../rows/money-tables.ts'
import type { StepBooks } from '../rows/operation-rows.ts'
import { all, booksOf, first, insert, run, type Step } from '../steps.ts'
import type { Charges } from './charges.ts'
import type { Journal } from './journal.ts'

/** A node as the owner of its holds. */
export type Owner = {
  /** New at each start, so a node does not renew the holds of its former process. */
  readonly number: bigint
  /** The expiry of a hold that is placed or renewed now. */
  expiresAtMs(): number
}

const COLUMNS = 'id_key, id_tail, account_id, kind, amount, state, expires_at_ms'

/** The steps of media holds. These are rows with their money moved, because a job outlives its process. */
export class MediaHolds {
  readonly #journal: Journal
  readonly #charges: Charges

  constructor(parts: { readonly journal: Journal; readonly charges: Charges }) {
    this.#journal = parts.journal
    this.#charges = parts.charges
  }

  /** Moves the money, or refuses and writes nothing. */
  *place(hold: MediaHold, owner: Owner, atMs: number): Step<HoldOutcome> {
    const books = yield* booksOf(hold.accountId)
    const by = { owner: owner.number, expiresAtMs: owner.expiresAtMs(), atMs }
    const { outcome, write } = placeMediaHold({ ...(yield* factsOf(hold, books)), books }, hold, by)
    if (write !== undefined) {
      yield* this.#journal.write(books, write.operation)
      yield* insert(holdsTable, write.row)
    }
    return outcome
  }

  /** Takes the cost and frees the rest. */
  *capture(hold: Hold, charge: Charge): Step<Captured> {
    const books = yield* booksOf(hold.accountId)
    const facts = { ...(yield* factsOf(hold, books)), first: yield* this.#charges.first(hold.id) }
    const { captured, write } = captureMediaHold(facts, hold, charge)
    if (write !== undefined) {
      yield* this.#charges.insert(books, charge, write.booking)
      yield* this.#end(books, hold, write)
    }
    return captured
  }

  /** Frees the whole hold. Changes nothing if it is not open. */
  *release(hold: Hold, atMs: number): Step<void> {
    const books = yield* booksOf(hold.accountId)
    const write = freeMediaHold(yield* factsOf(hold, books), hold, { state: 'released', atMs })
    if (write !== undefined) yield* this.#end(books, hold, write)
  }

  /** Extends the expiry of the open holds of an owner. */
  *renew(owner: Owner): Step<void> {
    yield* run(
      `UPDATE holds SET expires_at_ms = ? WHERE owner = ? AND state = 'open' AND expires_at_ms IS NOT NULL`,
      owner.expiresAtMs(),
      owner.number,
    )
  }

  /** At most `limit` open holds whose time is over, oldest first. */
  *expired(nowMs: number, limit: number): Step<readonly Hold[]> {
    const rows = yield* all<HoldRow>(
      `SELECT ${COLUMNS} FROM holds
        WHERE state = 'open' AND expires_at_ms IS NOT NULL AND expires_at_ms <= ?
        ORDER BY expires_at_ms LIMIT ?`,
      nowMs,
      limit,
    )
    return rows.map(holdFrom)
  }

  /** Frees a hold whose time is over. Returns false, and writes nothing, for any other hold. */
  *expire(hold: Hold, { nowMs, atMs }: { readonly nowMs: number; readonly atMs: number }): Step<boolean> {
    const books = yield* booksOf(hold.accountId)
    const write = freeMediaHold(yield* factsOf(hold, books), hold, { state: 'expired', atMs, nowMs })
    if (write !== undefined) yield* this.#end(books, hold, write)
    return write !== undefined
  }

  *#end(books: StepBooks, { id }: Hold, { operation, end }: EndedHold): Step<void> {
    yield* this.#journal.write(books, operation)
    const resolved = yield* all(
      `UPDATE holds SET state = ?, resolved_by = ?, resolved_at_ms = ?
        WHERE id_key = ? AND id_tail = ? AND state = 'open' RETURNING id`,
      end.state,
      end.resolvedBy,
      end.atMs,
      id.key,
      id.tail,
    )
    if (resolved.length !== 1)
      throw new Error(`${formatId('hold', id)} could not be ${end.state}: it is not open.`)
  }
}

function* factsOf(
  { id }: Hold,
  books: StepBooks,
): Step<{ readonly found: HoldRow | null; readonly nextOperationId: bigint }> {
  const found = yield* first<HoldRow>(
    `SELECT ${COLUMNS} FROM holds WHERE id_key = ? AND id_tail = ?`,
    id.key,
    id.tail,
  )
  return { found: found ?? null, nextOperationId: books.nextOperationId() }
}
