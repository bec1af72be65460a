import type { Database, Statement } from 'bun:sqlite'
import type { FailureReason, JobKind } from '../../domain/jobs/job.ts'
import type { AttemptState } from '../../domain/ledger/attempt.ts'
import { nanoUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { LossLine, Page } from '../../gateway/ports/ledger.ts'
import { nanoUsdOrNull } from '../books/charge-rows.ts'
import { unknownCursor } from '../books/cursors.ts'
import { priceOfRow } from '../books/tariff-rows.ts'
import type { UsageColumns } from '../books/usage-columns.ts'

/** Jobs and attempts have rows of their own, so a place in the list is a time, a table and a row. */
const CURSOR = /^l(\d{1,15})([ja])(\d{1,18})$/

/**
 * The failed jobs with a loss or a cost of the provider, and the attempts that no customer paid for. A late answer was
 * charged and given back, so its price is a loss too. An abandoned attempt is listed also if its usage is not known.
 */
const SELECT = `SELECT * FROM (
    SELECT 'j' AS source, row_id, id_key, id_tail, kind, account_id, model, provider, failure_reason AS reason, loss,
        provider_cost, ifnull(loss_at_ms, changed_at_ms) AS at_ms
      FROM jobs WHERE state = 'failed' AND (loss > 0 OR provider_cost > 0)
    UNION ALL
    SELECT 'a', id, request_key, request_tail, 'text', account_id, model, provider, state,
        CASE state WHEN 'compensated' THEN cost END, provider_cost, at_ms
      FROM attempts WHERE provider_cost > 0 OR state = 'abandoned' OR (state = 'compensated' AND cost > 0)
  )
  WHERE (at_ms, source, row_id) < ($atMs, $source, $row)
  ORDER BY at_ms DESC, source DESC, row_id DESC LIMIT $limit`

const SELECT_ABANDONED = `SELECT attempts.*, tariffs.content FROM attempts
  LEFT JOIN tariffs ON tariffs.id = tariff_id WHERE attempts.id = ?`

/** An abandoned attempt, and its tariff. */
type AbandonedRow = Omit<UsageColumns, 'input'> & {
  readonly input: bigint | null
  readonly content: string | null
}

type Place = { readonly atMs: number; readonly source: string; readonly row: bigint | number }

/** Behind every row: a job has the last letter of the two tables. */
const START: Place = { atMs: Number.MAX_SAFE_INTEGER, source: 'j', row: 0 }

/** Reads the work that no customer paid for, newest first. */
export class LossList {
  readonly #select: Statement<LossRow, [Place & { readonly limit: number }]>
  readonly #selectAbandoned: Statement<AbandonedRow, [bigint]>

  constructor(database: Database) {
    this.#select = database.prepare(SELECT)
    this.#selectAbandoned = database.prepare(SELECT_ABANDONED)
  }

  page({ limit, before }: Page): readonly LossLine[] {
    const place = before === undefined ? START : placeOf(before)
    return this.#select
      .all({ ...place, limit })
      .map(row =>
        lossLineFrom(row, row.reason === 'abandoned' ? this.#priceOf(row) : nanoUsd(row.loss ?? 0n)),
      )
  }

  /** The price of an abandoned attempt at its tariff. Zero if its usage is not known, or if the model has no tariff. */
  #priceOf({ row_id: id }: LossRow): NanoUsd {
    const row = this.#selectAbandoned.get(id)
    if (row === null || row.input === null || row.content === null) return ZERO
    return priceOfRow({ ...row, input: row.input }, row.content) ?? ZERO
  }
}

function placeOf(cursor: string): Place {
  const [, atMs, source, row] = CURSOR.exec(cursor) ?? []
  if (atMs === undefined || source === undefined || row === undefined) throw unknownCursor()
  return { atMs: Number(atMs), source, row: BigInt(row) }
}

type LossRow = {
  source: 'j' | 'a'
  row_id: bigint
  id_key: bigint
  id_tail: bigint
  kind: JobKind | 'text'
  account_id: bigint
  model: string
  provider: string
  reason: FailureReason | AttemptState
  loss: bigint | null
  provider_cost: bigint | null
  at_ms: bigint
}

function lossLineFrom(row: LossRow, loss: NanoUsd): LossLine {
  return {
    id: { key: row.id_key, tail: row.id_tail },
    cursor: `l${row.at_ms}${row.source}${row.row_id}`,
    kind: row.kind,
    accountId: Number(row.account_id),
    model: row.model,
    provider: row.provider,
    reason: row.reason,
    loss,
    providerCost: nanoUsdOrNull(row.provider_cost),
    atMs: Number(row.at_ms),
  }
}
