import type { Database, Statement } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import type { Ledger, TimeRange, UsageLine, UsageTotals } from '../../gateway/ports/ledger.ts'
import { usageLineFrom, type ChargeRow } from '../books/charge-rows.ts'
import { readCursor, ROW_ID_MAX } from '../books/cursors.ts'
import { addTotals, NO_TOTALS, totalsOfRow } from '../books/usage-days.ts'
import type { BooksOfAccounts } from './account-books.ts'
import { UsageRange } from './usage-range.ts'

// A subquery, because a LEFT JOIN made each read ten times as slow.
const SELECT = `SELECT *, (SELECT content FROM tariffs WHERE tariffs.id = tariff_id) AS content,
    (SELECT ifnull(sum(amount), 0) FROM corrections WHERE charge_id = charges.id) AS refunded
  FROM charges`

/** Rows that are read in one turn of the event loop. */
const ROWS_A_TURN = 1000

type UsagePage = Parameters<Ledger['usage']>[1]

/** Reads charges, newest first. */
export class UsageList {
  readonly #books: BooksOfAccounts
  readonly #range: UsageRange
  readonly #selectOne: Statement<ChargeRow, [bigint]>
  readonly #selectAll: Statement<ChargeRow, [bigint, bigint, number, number, number]>
  readonly #selectById: Statement<ChargeRow, [bigint, bigint]>
  readonly #selectByKey: Statement<{ id: bigint | null }, [bigint]>

  constructor(parts: { readonly database: Database; readonly booksOfAccounts: BooksOfAccounts }) {
    const { database } = parts
    this.#books = parts.booksOfAccounts
    this.#range = new UsageRange(database)
    this.#selectOne = database.prepare(`${SELECT} WHERE id = ?`)
    this.#selectAll = database.prepare(
      `${SELECT} WHERE id < ? AND id >= ? AND at_ms >= ? AND at_ms < ? ORDER BY id DESC LIMIT ?`,
    )
    this.#selectById = database.prepare(`${SELECT} WHERE id_key = ? AND id_tail = ?`)
    this.#selectByKey = database.prepare('SELECT min(id) AS id FROM charges WHERE id_key = ?')
  }

  /** Undefined if no charge has this id. */
  find({ key, tail }: Id): UsageLine | undefined {
    const row = this.#selectById.get(key, tail)
    return row === null ? undefined : usageLineFrom(row)
  }

  async ofAll({ limit, before, between }: UsagePage): Promise<readonly UsageLine[]> {
    const rowId = before === undefined ? ROW_ID_MAX : this.#rowIdOf(before)
    const { fromMs, toMs } = between ?? ALWAYS
    const first = between === undefined ? 0n : (await this.#range.boundsOf(undefined, between))?.first
    if (rowId === undefined || first === undefined) return []
    return this.#selectAll.all(rowId, first, fromMs, toMs, limit).map(usageLineFrom)
  }

  /** Walks the chain of the account back. A page after a charge of another account is empty. */
  async ofAccount(accountId: number, { limit, before, between }: UsagePage): Promise<readonly UsageLine[]> {
    const bounds =
      between === undefined
        ? { first: 0n, latest: this.#books.of(accountId).committed.latestChargeId }
        : await this.#range.boundsOf(accountId, between)
    if (bounds === undefined) return []
    let { latest } = bounds
    if (before !== undefined) {
      const after = this.#previousOf(accountId, before)
      if (after === null || latest === null || after < latest) latest = after
    }
    const lines: UsageLine[] = []
    for await (const row of this.#walk(accountId, { first: bounds.first, latest })) {
      if (lines.length >= limit) break
      if (isWithin(row, between ?? ALWAYS)) lines.push(usageLineFrom(row))
    }
    return lines
  }

  totals(accountId: number, between: TimeRange): Promise<UsageTotals> {
    return this.#range.totalsOf(accountId, between, async (day, part) => {
      let totals = NO_TOTALS
      for await (const row of this.#walk(accountId, day))
        if (isWithin(row, part)) totals = addTotals(totals, totalsOfRow(row))
      return totals
    })
  }

  /**
   * The charges of an account from the latest one back to the first one. Pauses now and then, because there can be
   * many.
   */
  async *#walk(
    accountId: number,
    { first, latest }: { readonly first: bigint; readonly latest: bigint | null },
  ): AsyncGenerator<ChargeRow> {
    let read = 0
    for (let next = latest; next !== null && next >= first;) {
      const row = this.#selectOne.get(next)
      if (row === null) throw new Error(`Charge ${next} of account ${accountId} is missing.`)
      yield row
      next = row.previous_id
      read += 1
      if (read % ROWS_A_TURN === 0) await new Promise(setImmediate)
    }
  }

  /** The charge before the one of a cursor; null if that is of another account. */
  #previousOf(accountId: number, cursor: string): bigint | null {
    const rowId = this.#rowIdOf(cursor)
    const row = rowId === undefined ? null : this.#selectOne.get(rowId)
    return row !== null && Number(row.account_id) === accountId ? row.previous_id : null
  }

  /** Earlier versions named a charge by the first half of its id. */
  #rowIdOf(cursor: string): bigint | undefined {
    const { value, isOld } = readCursor(cursor)
    return isOld ? (this.#selectByKey.get(value)?.id ?? undefined) : value
  }
}

export const ALWAYS: TimeRange = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }

function isWithin({ at_ms }: ChargeRow, { fromMs, toMs }: TimeRange): boolean {
  const atMs = Number(at_ms)
  return atMs >= fromMs && atMs < toMs
}
