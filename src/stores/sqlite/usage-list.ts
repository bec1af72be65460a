import type { Database, Statement } from 'bun:sqlite'
import type { Id } from '../../domain/ids.ts'
import { isOf } from '../../domain/ledger/attribution.ts'
import type {
  ChargeSums,
  GroupedUsage,
  TimeRange,
  UsageLine,
  UsagePage,
} from '../../gateway/ports/ledger-reports.ts'
import { attributedFrom, type AttributedColumns } from '../books/attribution-columns.ts'
import { usageLineFrom, type ChargeRow } from '../books/charge-rows.ts'
import { readCursor, ROW_ID_MAX } from '../books/cursors.ts'
import {
  addSums,
  NO_SUMS,
  sumsOfRow,
  type ChargeMeasures,
  type OperatorMeasures,
} from '../books/usage-days.ts'
import type { GroupSums } from '../books/usage-groups.ts'
import type { BooksOfAccounts } from './account-books.ts'
import { walkCharges, type ReadTurns } from './charge-chain.ts'
import { IS_COMPENSATED } from './usage-days.ts'
import { UsageRange, type Bounds } from './usage-range.ts'

// A subquery, because a LEFT JOIN made each read ten times as slow.
const SELECT = `SELECT *, (SELECT content FROM tariffs WHERE tariffs.id = tariff_id) AS content,
    (SELECT ifnull(sum(amount), 0) FROM corrections WHERE charge_id = charges.id) AS refunded
  FROM charges`

/** The columns that sums need. The other ones take twice as long to read. */
const SELECT_MEASURES = `SELECT id, previous_id, at_ms, input, cached_input, cache_write, audio_input, output, reasoning,
    audio_output, cache_write_1h, server_tool_uses, search_calls, file_searches, service_tier, images, duration_ms, cost,
    tags, user_id, api_key_id, provider_cost, ${IS_COMPENSATED}
  FROM charges`

type MeasuresRow = ChargeMeasures &
  OperatorMeasures &
  AttributedColumns & { id: bigint; previous_id: bigint | null; at_ms: bigint }

/** Reads charges, newest first. */
export class UsageList {
  readonly #books: BooksOfAccounts
  readonly #range: UsageRange
  readonly #turns: ReadTurns
  readonly #selectOne: Statement<ChargeRow, [bigint]>
  readonly #selectMeasures: Statement<MeasuresRow, [bigint]>
  readonly #selectAll: Statement<ChargeRow, [bigint, bigint, number, number, number]>
  readonly #selectById: Statement<ChargeRow, [bigint, bigint]>
  readonly #selectByKey: Statement<{ id: bigint | null }, [bigint]>

  constructor(parts: {
    readonly database: Database
    readonly booksOfAccounts: BooksOfAccounts
    readonly turns: ReadTurns
  }) {
    const { database } = parts
    this.#turns = parts.turns
    this.#books = parts.booksOfAccounts
    this.#range = new UsageRange(database)
    this.#selectOne = database.prepare(`${SELECT} WHERE id = ?`)
    this.#selectMeasures = database.prepare(`${SELECT_MEASURES} WHERE id = ?`)
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

  async ofAll({ limit, before, between, matching }: UsagePage): Promise<readonly UsageLine[]> {
    if (matching !== undefined) throw new RangeError('Requests are selected only within one account.')
    const rowId = before === undefined ? ROW_ID_MAX : this.#rowIdOf(before)
    const { fromMs, toMs } = between ?? ALWAYS
    const first = between === undefined ? 0n : (await this.#range.boundsOf(undefined, between))?.first
    if (rowId === undefined || first === undefined) return []
    return this.#selectAll.all(rowId, first, fromMs, toMs, limit).map(usageLineFrom)
  }

  /** Walks the chain of the account back. A page after a charge of another account is empty. */
  async ofAccount(
    accountId: number,
    { limit, before, between, matching }: UsagePage,
  ): Promise<readonly UsageLine[]> {
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
    const chain = { accountId, first: bounds.first, latest }
    for await (const row of walkCharges(this.#selectOne, chain, this.#turns)) {
      if (lines.length >= limit) break
      if (!isWithin(row, between ?? ALWAYS)) continue
      if (matching === undefined || isOf(attributedFrom(row), matching)) lines.push(usageLineFrom(row))
    }
    return lines
  }

  sums(accountId: number, between: TimeRange): Promise<ChargeSums> {
    return this.#range.sumsOf(accountId, between, async (day, part) => {
      let sums = NO_SUMS
      for await (const row of this.#measures(accountId, day))
        if (isWithin(row, part)) sums = addSums(sums, sumsOfRow(row))
      return sums
    })
  }

  /** Adds each charge of a time range to the sums of its group. Rejects if the signal fires before it has ended. */
  async addTo(
    sums: GroupSums,
    accountId: number,
    { between, signal }: Pick<GroupedUsage, 'between' | 'signal'>,
  ): Promise<void> {
    const bounds = await this.#range.boundsOf(accountId, between)
    if (bounds === undefined) return
    for await (const row of this.#measures(accountId, bounds)) {
      if (signal.aborted) throw new Error('The caller disconnected.')
      if (isWithin(row, between)) sums.addCharge(attributedFrom(row), sumsOfRow(row))
    }
  }

  #measures(accountId: number, { first, latest }: Bounds): AsyncGenerator<MeasuresRow> {
    return walkCharges(this.#selectMeasures, { accountId, first, latest }, this.#turns)
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

function isWithin({ at_ms }: Pick<ChargeRow, 'at_ms'>, { fromMs, toMs }: TimeRange): boolean {
  const atMs = Number(at_ms)
  return atMs >= fromMs && atMs < toMs
}
