import { closedAccountError } from '../../../domain/accounts/account.ts'
import { formatId, idNumber } from '../../../domain/ids.ts'
import { nanoUsd } from '../../../domain/money.ts'
import { requireFittingCharge } from '../../../domain/ledger/hold.ts'
import type { Charge, TextCharge } from '../../../gateway/ports/ledger/charge.ts'
import type { Captured, Hold, HoldOutcome } from '../../../gateway/ports/ledger/ledger.ts'
import { repeatedCapture } from '../../books/rows/charge-rows.ts'
import { anotherHold, noBooks, type TextHoldTerms } from '../../books/ledger/holds.ts'
import type { Batches } from '../lanes/batches.ts'
import { flushed, LANE_TTL_MS } from '../lanes/lane.ts'
import { list, record } from '../database/literals.ts'
import { holdValues, type HoldProblem } from '../lanes/post.ts'
import type { ReadQuery } from '../database/reads.ts'
import type { Tariffs } from './tariffs.ts'

/** The requests of their accounts wait for a page: a few milliseconds. */
const EXPIRED_AT_ONCE = 100

type Parts = {
  readonly batches: Batches
  readonly tariffs: Tariffs
  readonly reads: ReadQuery
  /** Replaces the clock of the database, for tests. */
  readonly nowMs?: () => number
  /** Called with each account one of whose holds expired. */
  readonly onFreed?: (accountId: number) => void
}

/**
 * The holds of running text requests. They are rows without entries in the journal, because other nodes spend the same
 * money; the books of an account have their sum.
 */
export class TextHolds {
  readonly #batches: Batches
  readonly #tariffs: Tariffs
  readonly #sql: ReadQuery
  readonly #nowMs: () => number | null
  readonly #onFreed: (accountId: number) => void
  /** The captures that have not ended, by the numbers of their holds. */
  readonly #capturing = new Map<bigint, Promise<unknown>>()

  constructor(parts: Parts) {
    this.#batches = parts.batches
    this.#tariffs = parts.tariffs
    this.#sql = parts.reads
    this.#nowMs = parts.nowMs ?? (() => null)
    this.#onFreed = parts.onFreed ?? (() => undefined)
  }

  async place(hold: TextHoldTerms): Promise<HoldOutcome> {
    if (hold.amount < 0n) throw new RangeError(`A hold of ${hold.amount} is negative.`)
    const answer = await this.#batches.place(hold)
    if (answer.outcome === 'impossible') throw problemOfHold(hold, answer.problem)
    return answer
  }

  async capture(hold: Hold, charge: Charge): Promise<Captured> {
    requireFittingCharge(hold.kind, charge.kind)
    if (charge.kind !== 'text') throw new RangeError(`${formatId('hold', hold.id)} is not a text hold.`)
    if (charge.cost < 0n) throw new RangeError(`A cost of ${charge.cost} is negative.`)
    const capture = this.#capture(hold, charge)
    const number = idNumber(hold.id)
    this.#capturing.set(number, capture)
    try {
      return await capture
    } finally {
      if (this.#capturing.get(number) === capture) this.#capturing.delete(number)
    }
  }

  /** If a capture was asked for first, this ends the hold only if the capture fails. */
  async release(hold: Hold): Promise<void> {
    await this.#capturing.get(idNumber(hold.id))?.catch(() => undefined)
    return this.#batches.end(hold)
  }

  /** Renews the holds of this node: its lane is in use. */
  renew(): Promise<void> {
    return this.#batches.renew()
  }

  /** At most `limit` open holds of lanes that another process took, or that were not seen for `LANE_TTL_MS`. */
  async expired(limit: number): Promise<readonly Hold[]> {
    const sql = this.#sql
    const rows = await sql<TextHoldRow[]>`
      SELECT id_key, id_tail, account_id, amount FROM text_holds h JOIN lanes l ON l.number = h.lane
        WHERE expired_at_ms IS NULL
          AND (l.epoch <> h.epoch OR l.seen_at_ms <= now_ms(${this.#nowMs()}) - ${LANE_TTL_MS}::bigint)
        ORDER BY id_key, id_tail LIMIT ${limit}`
    return rows.map(({ id_key: key, id_tail: tail, account_id: accountId, amount }) => ({
      id: { key, tail },
      accountId: Number(accountId),
      kind: 'text',
      amount: nanoUsd(amount),
    }))
  }

  /**
   * Frees the money of those of these holds that have expired, and returns their number. Their requests can still be
   * charged. Like a batch, each page is committed without waiting for the disk, so that its locks are released first.
   */
  async expire(holds: readonly Hold[], atMs: number): Promise<number> {
    const sql = this.#sql
    const accountIds: number[] = []
    for (let from = 0; from < holds.length; from += EXPIRED_AT_ONCE) {
      const page = list(holds.slice(from, from + EXPIRED_AT_ONCE).map(hold => record(holdValues(hold))))
      const rows = await sql<{ account_id: bigint }[]>`
        SELECT account_id FROM expire_holds_v1(${page}::text_hold_v1[], ${LANE_TTL_MS}, ${atMs}, ${this.#nowMs()})`
      accountIds.push(...rows.map(({ account_id: accountId }) => Number(accountId)))
    }
    if (accountIds.length > 0) await flushed(sql)
    for (const accountId of new Set(accountIds)) this.#onFreed(accountId)
    return accountIds.length
  }

  async #capture(hold: Hold, charge: TextCharge): Promise<Captured> {
    const tariffId = charge.tariff === null ? null : await this.#tariffs.idOf(charge.tariff)
    const answer = await this.#batches.charge({ hold, charge, tariffId })
    return 'captured' in answer ? answer.captured : repeatedCapture(hold, charge.cost, answer.first)
  }
}

type TextHoldRow = { id_key: bigint; id_tail: bigint; account_id: bigint; amount: bigint }

function problemOfHold({ id, accountId }: Hold, problem: HoldProblem): Error {
  switch (problem) {
    case 'another':
      return anotherHold(id)
    case 'expired':
      return new RangeError(`${formatId('hold', id)} has expired.`)
    case 'closed':
      return closedAccountError()
    case 'no account':
      return noBooks(accountId)
    case 'limits':
      return new Error(
        `The limits of account ${accountId} refuse ${formatId('hold', id)} only in the database.`,
      )
  }
}
