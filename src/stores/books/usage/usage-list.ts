import type { Id } from '../../../domain/ids.ts'
import { isOf } from '../../../domain/ledger/attribution.ts'
import type {
  ChargeSums,
  GroupedUsage,
  TimeRange,
  UsageLine,
  UsagePage,
} from '../../../gateway/ports/ledger/ledger-reports.ts'
import type { UsageSource } from '../access/project-usage.ts'
import { attributedFrom, type AttributedColumns } from '../rows/attribution-columns.ts'
import { usageLineFrom, type ChargeRow } from '../rows/charge-rows.ts'
import { readCursor, ROW_ID_MIN } from '../cursors.ts'
import { first, type StepRunner, type Step } from '../steps.ts'
import {
  addSums,
  ALL_SUMS,
  chargeSumsFrom,
  dayOf,
  IS_COMPENSATED,
  NO_SUMS,
  startOfDay,
  sumsOfRow,
  type ChargeMeasures,
  type OperatorMeasures,
  type UsageSumsRow,
} from './usage-days.ts'
import type { GroupSums } from './usage-groups.ts'
import {
  latestChargeOf,
  ROWS_A_TURN,
  walkCharges,
  type ChainedRow,
  type ChainPart,
  type ChargePlaces,
  type ReadSchedule,
} from './charge-chain.ts'

// A subquery, because a LEFT JOIN made each read ten times as slow.
const COLUMNS = `charges.*, (SELECT content FROM tariffs WHERE tariffs.id = tariff_id) AS content,
  CAST((SELECT coalesce(sum(amount), 0) FROM corrections WHERE charge_id = charges.id) AS bigint) AS refunded`

/** The columns that sums need. The other ones take twice as long to read. */
const MEASURES = `charges.id, previous_id, at_ms, input, cached_input, cache_write, audio_input, output, reasoning,
  audio_output, cache_write_1h, server_tool_uses, search_calls, file_searches, service_tier, images, duration_ms, cost,
  tags, user_id, api_key_id, provider_cost, ${IS_COMPENSATED}`

type MeasuresRow = ChargeMeasures & OperatorMeasures & AttributedColumns & ChainedRow

export const ALWAYS: TimeRange = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }

/** Reads charges, newest first. */
export class UsageList {
  readonly #stepRunner: StepRunner
  readonly #places: ChargePlaces
  readonly #schedule: ReadSchedule
  readonly #source: UsageSource

  constructor(parts: {
    readonly stepRunner: StepRunner
    readonly chargePlaces: ChargePlaces
    readonly schedule: ReadSchedule
    readonly usageSource: UsageSource
  }) {
    this.#stepRunner = parts.stepRunner
    this.#places = parts.chargePlaces
    this.#schedule = parts.schedule
    this.#source = parts.usageSource
  }

  /** Undefined if no charge has this id. */
  find({ key, tail }: Id): Promise<UsageLine | undefined> {
    return this.#stepRunner.read(function* () {
      const row = yield* first<ChargeRow>(
        `SELECT ${COLUMNS} FROM charges WHERE id_key = ? AND id_tail = ?`,
        key,
        tail,
      )
      return row === undefined ? undefined : usageLineFrom(row)
    })
  }

  async ofAll({ limit, before, between, matching }: UsagePage): Promise<readonly UsageLine[]> {
    if (matching !== undefined) throw new RangeError('Requests are selected only within one account.')
    const start = between === undefined ? ROW_ID_MIN : await this.#firstOf(between)
    if (start === undefined) return []
    const places = this.#places
    return this.#stepRunner.read(function* () {
      const rowId = before === undefined ? undefined : yield* rowIdOf(before)
      if (before !== undefined && rowId === undefined) return []
      const page = { before: rowId, first: start, between: between ?? ALWAYS, limit }
      return (yield* places.ofAll(COLUMNS, page)).map(usageLineFrom)
    })
  }

  /** Walks the chain of the account back. A page after a charge of another account is empty. */
  async ofAccount(
    accountId: number,
    { limit, before, between, matching }: UsagePage,
  ): Promise<readonly UsageLine[]> {
    const part = await this.#stepRunner.read(() => this.#partOf(accountId, before, between))
    if (part === undefined) return []
    const lines: UsageLine[] = []
    // A selection may need many charges for few lines.
    const rowsATurn =
      matching === undefined && between === undefined ? Math.min(limit, ROWS_A_TURN) : ROWS_A_TURN
    const walked = { accountId, part, rowsATurn }
    for await (const row of walkCharges<ChargeRow>(this.#reader, COLUMNS, walked)) {
      if (!isWithin(row, between ?? ALWAYS)) continue
      if (matching === undefined || isOf(attributedFrom(row), matching)) lines.push(usageLineFrom(row))
      if (lines.length >= limit) break
    }
    return lines
  }

  /**
   * The sums of an account's charges in a time range. Those of a whole day are stored; while an upgrade adds up earlier
   * charges, each day is read.
   */
  async sums(accountId: number, between: TimeRange): Promise<ChargeSums> {
    const isComplete = await this.#stepRunner.read(() => this.#source.isComplete())
    let sums = NO_SUMS
    for (const { day, part } of daysOf(between)) {
      const isWhole = part.fromMs === startOfDay(day) && part.toMs === startOfDay(day + 1)
      sums = addSums(
        sums,
        isWhole && isComplete
          ? await this.#stepRunner.read(() => sumsOfDay(accountId, day))
          : await this.#sumsOfPart(accountId, part),
      )
    }
    return sums
  }

  /** Adds each charge of a time range to the sums of its group. Rejects if the signal fires before it has ended. */
  async addTo(
    sums: GroupSums,
    accountId: number,
    { between, signal }: Pick<GroupedUsage, 'between' | 'signal'>,
  ): Promise<void> {
    for await (const row of this.#measures(accountId, between)) {
      if (signal.aborted) throw new Error('The caller disconnected.')
      sums.addCharge(attributedFrom(row), sumsOfRow(row))
    }
  }

  /** The row id before which no charge of a range is. Undefined if the range has none. */
  async #firstOf(between: TimeRange): Promise<bigint | undefined> {
    let first: bigint | undefined
    for (const { day } of daysOf(between)) {
      const found = await this.#stepRunner.read(() => this.#places.firstOfDay(day))
      if (found !== undefined && (first === undefined || found < first)) first = found
      // A day of all accounts may have thousands of rows.
      await this.#schedule.next()
    }
    return first
  }

  get #reader() {
    return { stepRunner: this.#stepRunner, schedule: this.#schedule }
  }

  async #sumsOfPart(accountId: number, between: TimeRange): Promise<ChargeSums> {
    let sums = NO_SUMS
    for await (const row of this.#measures(accountId, between)) sums = addSums(sums, sumsOfRow(row))
    return sums
  }

  /** The charges of an account in a time range. */
  async *#measures(accountId: number, between: TimeRange): AsyncGenerator<MeasuresRow> {
    const part = await this.#stepRunner.read(() => this.#places.ofAccount(accountId, between))
    if (part === undefined) return
    for await (const row of walkCharges<MeasuresRow>(this.#reader, MEASURES, { accountId, part }))
      if (isWithin(row, between)) yield row
  }

  *#partOf(
    accountId: number,
    before: string | undefined,
    between: TimeRange | undefined,
  ): Step<ChainPart | undefined> {
    const part =
      between === undefined
        ? { latest: yield* latestChargeOf(accountId), isBefore: () => false }
        : yield* this.#places.ofAccount(accountId, between)
    if (part === undefined || before === undefined) return part
    return { ...part, latest: yield* previousOf(accountId, before) }
  }
}

/** The charge before the one of a cursor; null if that is of another account. */
function* previousOf(accountId: number, cursor: string): Step<bigint | null> {
  const rowId = yield* rowIdOf(cursor)
  if (rowId === undefined) return null
  const row = yield* first<{ account_id: bigint; previous_id: bigint | null }>(
    'SELECT account_id, previous_id FROM charges WHERE id = ?',
    rowId,
  )
  return row !== undefined && Number(row.account_id) === accountId ? row.previous_id : null
}

/** Earlier versions named a charge by the first half of its id. */
function* rowIdOf(cursor: string): Step<bigint | undefined> {
  const { value, isOld } = readCursor(cursor)
  if (!isOld) return value
  const row = yield* first<{ id: bigint | null }>('SELECT min(id) AS id FROM charges WHERE id_key = ?', value)
  return row?.id ?? undefined
}

function* sumsOfDay(accountId: number, day: number): Step<ChargeSums> {
  const row = yield* first<UsageSumsRow>(
    `SELECT ${ALL_SUMS} FROM usage_days WHERE day = ? AND account_id = ? GROUP BY account_id`,
    day,
    accountId,
  )
  return row === undefined ? NO_SUMS : chargeSumsFrom(row)
}

/** The days of a range, each with the part of it that is in the range. */
function daysOf({ fromMs, toMs }: TimeRange): readonly { readonly day: number; readonly part: TimeRange }[] {
  const first = dayOf(fromMs)
  return Array.from({ length: dayOf(toMs - 1) - first + 1 }, (_, index) => {
    const day = first + index
    const part = { fromMs: Math.max(fromMs, startOfDay(day)), toMs: Math.min(toMs, startOfDay(day + 1)) }
    return { day, part }
  })
}

function isWithin({ at_ms }: Pick<ChainedRow, 'at_ms'>, { fromMs, toMs }: TimeRange): boolean {
  const atMs = Number(at_ms)
  return atMs >= fromMs && atMs < toMs
}
