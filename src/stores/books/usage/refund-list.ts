import { nanoUsd, type NanoUsd } from '../../../domain/money.ts'
import { isOf } from '../../../domain/ledger/attribution.ts'
import type {
  GroupedUsage,
  RefundLine,
  TimeRange,
  UsagePage,
} from '../../../gateway/ports/ledger/ledger-reports.ts'
import { attributionFrom, type AttributionColumns } from '../rows/attribution-columns.ts'
import { readTimedCursor, ROW_ID_MAX, timedCursorOf } from '../cursors.ts'
import type { GroupSums } from './usage-groups.ts'
import { ROWS_A_TURN, type ReadSchedule } from './charge-chain.ts'
import { all, first, type StepRunner } from '../steps.ts'
import { ALWAYS } from './usage-list.ts'

// The operation has the time, and the indexes of refunds.
const SELECT = `
  SELECT operations.id AS operation_id, operations.at_ms, corrections.id_key, corrections.id_tail, corrections.account_id,
      corrections.amount, note, charges.id_key AS charge_key, charges.id_tail AS charge_tail, api_key_id, route, model,
      provider, tags, user_id, CASE WHEN provenance IS NOT NULL THEN 'text' WHEN images IS NOT NULL THEN 'images' ELSE 'video' END AS kind
    FROM operations
    JOIN corrections ON corrections.id_key = subject_key AND corrections.id_tail = subject_tail
    JOIN charges ON charges.id = charge_id
    WHERE operations.kind = 'refund' AND operations.at_ms >= ? AND operations.at_ms < ?
      AND (operations.at_ms, operations.id) < (CAST(? AS bigint), CAST(? AS bigint))`
const NEWEST_FIRST = 'ORDER BY operations.at_ms DESC, operations.id DESC LIMIT ?'

/** Reads refunds by the time at which they were made, newest first. */
export class RefundList {
  readonly #stepRunner: StepRunner
  readonly #schedule: ReadSchedule

  constructor(parts: { readonly stepRunner: StepRunner; readonly schedule: ReadSchedule }) {
    this.#stepRunner = parts.stepRunner
    this.#schedule = parts.schedule
  }

  async list(accountId: number | undefined, page: UsagePage): Promise<readonly RefundLine[]> {
    const { matching, limit } = page
    if (matching === undefined) return this.#page(accountId, page)
    const lines: RefundLine[] = []
    for await (const line of this.#walk(accountId, page)) {
      if (isOf(line.charge, matching)) lines.push(line)
      if (lines.length >= limit) break
    }
    return lines
  }

  /** Adds each refund of a time range to the sums of the group of its charge. */
  async addTo(
    sums: GroupSums,
    accountId: number,
    { between, signal }: Pick<GroupedUsage, 'between' | 'signal'>,
  ): Promise<void> {
    for await (const { charge, amount } of this.#walk(accountId, { between })) {
      if (signal.aborted) throw new Error('The caller disconnected.')
      sums.addRefund(charge, amount)
    }
  }

  /** The sum of an account's refunds in a time range. */
  sum(accountId: number, { fromMs, toMs }: TimeRange): Promise<NanoUsd> {
    return this.#stepRunner.read(function* () {
      const row = yield* first<{ refunded: bigint }>(
        `SELECT CAST(coalesce(sum(amount), 0) AS bigint) AS refunded FROM operations
          WHERE kind = 'refund' AND account_id = ? AND at_ms >= ? AND at_ms < ?`,
        accountId,
        fromMs,
        toMs,
      )
      return nanoUsd(row?.refunded ?? 0n)
    })
  }

  /** All refunds of a list. It pauses after each page, because there can be many. */
  async *#walk(
    accountId: number | undefined,
    { before, ...page }: Pick<UsagePage, 'before' | 'between'>,
  ): AsyncGenerator<RefundLine> {
    for (let place = before; ;) {
      const lines = await this.#page(accountId, {
        ...page,
        limit: ROWS_A_TURN,
        ...(place !== undefined && { before: place }),
      })
      yield* lines
      if (lines.length < ROWS_A_TURN) return
      place = lines.at(-1)?.cursor
      await this.#schedule.next()
    }
  }

  #page(
    accountId: number | undefined,
    { limit, before, between = ALWAYS }: UsagePage,
  ): Promise<readonly RefundLine[]> {
    return this.#stepRunner.read(function* () {
      const { atMs, rowId } = before === undefined ? LAST : readTimedCursor(before)
      const range = [between.fromMs, between.toMs, atMs, rowId] as const
      const rows =
        accountId === undefined
          ? yield* all<RefundRow>(`${SELECT} ${NEWEST_FIRST}`, ...range, limit)
          : yield* all<RefundRow>(
              `${SELECT} AND operations.account_id = ? ${NEWEST_FIRST}`,
              ...range,
              accountId,
              limit,
            )
      return rows.map(refundLineFrom)
    })
  }
}

/** After every refund. */
const LAST = { atMs: ROW_ID_MAX, rowId: ROW_ID_MAX }

type RefundRow = AttributionColumns & {
  operation_id: bigint
  at_ms: bigint
  id_key: bigint
  id_tail: bigint
  account_id: bigint
  amount: bigint
  note: string | null
  charge_key: bigint
  charge_tail: bigint
  api_key_id: bigint
  route: string
  model: string
  provider: string
  kind: RefundLine['charge']['kind']
}

function refundLineFrom(row: RefundRow): RefundLine {
  const { kind, route, model, provider } = row
  return {
    id: { key: row.id_key, tail: row.id_tail },
    cursor: timedCursorOf({ atMs: row.at_ms, rowId: row.operation_id }),
    accountId: Number(row.account_id),
    amount: nanoUsd(row.amount),
    note: row.note,
    atMs: Number(row.at_ms),
    charge: {
      id: { key: row.charge_key, tail: row.charge_tail },
      kind,
      route,
      model,
      provider,
      apiKeyId: Number(row.api_key_id),
      ...attributionFrom(row),
    },
  }
}
