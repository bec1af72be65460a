import type { FailureReason, JobKind } from '../../../domain/jobs/job.ts'
import type { AttemptState } from '../../../domain/ledger/attempt.ts'
import { nanoUsd, ZERO, type NanoUsd } from '../../../domain/money.ts'
import type { LossLine, LossPage } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { nanoUsdOrNull } from '../rows/charge-rows.ts'
import { ROW_ID_MAX, unknownCursor } from '../cursors.ts'
import { priceOfRow } from '../rows/tariff-rows.ts'
import type { UsageColumns } from '../rows/usage-columns.ts'
import { all, first, type Step } from '../steps.ts'
import { ALWAYS } from './usage-list.ts'

/** Jobs and attempts have rows of their own, so a place in the list is a time, a table and a row. */
const CURSOR = /^l(\d{1,15})([ja])(\d{1,18})$/

/** How a store reads failed jobs by the index that only these have. */
export type FailedJobs = {
  readonly from: string
  /** The time of a job, as the index has it. */
  readonly at: string
}

/** The failed jobs with a loss or a cost of the provider. The condition is that of the index. */
const selectJobs = ({ from, at }: FailedJobs) => `
  SELECT 'j' AS source, row_id, id_key, id_tail, kind, account_id, api_key_id, model, provider,
    failure_reason AS reason, loss, provider_cost, ${at} AS at_ms
  FROM ${from}
  WHERE state = 'failed' AND (loss > 0 OR provider_cost > 0)
    AND ${at} >= ? AND ${at} <= ?
    AND (${at} < ? OR row_id < ?)
  ORDER BY ${at} DESC, row_id DESC LIMIT ?`

/**
 * The attempts that no customer paid for. A late answer was charged and given back, so its price is a loss too. An
 * abandoned attempt is listed also if its usage is not known. The condition is that of the index.
 */
const SELECT_ATTEMPTS = `SELECT 'a' AS source, id AS row_id, request_key AS id_key, request_tail AS id_tail, 'text' AS kind, account_id,
    api_key_id, model, provider, state AS reason, CASE state WHEN 'compensated' THEN cost END AS loss, provider_cost, at_ms
  FROM attempts
  WHERE (provider_cost > 0 OR state = 'abandoned' OR (state = 'compensated' AND cost > 0))
    AND at_ms >= ? AND at_ms <= ? AND (at_ms < ? OR id < ?)
  ORDER BY at_ms DESC, id DESC LIMIT ?`

const SELECT_ABANDONED = `SELECT attempts.*, tariffs.content FROM attempts
  LEFT JOIN tariffs ON tariffs.id = tariff_id WHERE attempts.id = ?`

/** An abandoned attempt, and its tariff. */
type AbandonedRow = Omit<UsageColumns, 'input'> & {
  readonly input: bigint | null
  readonly content: string | null
}

type Place = { readonly atMs: number; readonly source: 'j' | 'a'; readonly row: bigint }

/** The work that no customer paid for, newest first. At the same time, jobs are before attempts. */
export function* lossesOf(
  { limit, before, between = ALWAYS }: LossPage,
  failedJobs: FailedJobs,
): Step<readonly LossLine[]> {
  const end: Place = { atMs: between.toMs, source: 'j', row: 0n }
  const asked = before === undefined ? end : placeOf(before)
  const { atMs, source, row } = asked.atMs < end.atMs ? asked : end
  const range = [between.fromMs, atMs, atMs] as const
  const jobs = yield* all<LossRow>(selectJobs(failedJobs), ...range, source === 'j' ? row : 0n, limit)
  // Before the first place of this time, no attempt of it is listed.
  const isListed = source === 'a' || row > 0n
  const attemptsBefore = source === 'a' ? row : isListed ? ROW_ID_MAX : 0n
  const attempts = yield* all<LossRow>(SELECT_ATTEMPTS, ...range, attemptsBefore, limit)
  const lines: LossLine[] = []
  for (const line of [...jobs, ...attempts].toSorted(newestFirst).slice(0, limit))
    lines.push(
      lossLineFrom(line, line.reason === 'abandoned' ? yield* priceOf(line) : nanoUsd(line.loss ?? 0n)),
    )
  return lines
}

/** The price of an abandoned attempt at its tariff. Zero if its usage is not known, or if the model has no tariff. */
function* priceOf({ row_id: id }: LossRow): Step<NanoUsd> {
  const row = yield* first<AbandonedRow>(SELECT_ABANDONED, id)
  if (row === undefined || row.input === null || row.content === null) return ZERO
  return priceOfRow({ ...row, input: row.input }, row.content) ?? ZERO
}

function placeOf(cursor: string): Place {
  const [, atMs, source, row] = CURSOR.exec(cursor) ?? []
  if (atMs === undefined || source === undefined || row === undefined) throw unknownCursor()
  return { atMs: Number(atMs), source: source === 'j' ? 'j' : 'a', row: BigInt(row) }
}

function newestFirst(left: LossRow, right: LossRow): number {
  if (left.at_ms !== right.at_ms) return left.at_ms < right.at_ms ? 1 : -1
  if (left.source !== right.source) return left.source === 'a' ? 1 : -1
  return left.row_id < right.row_id ? 1 : -1
}

type LossRow = {
  source: 'j' | 'a'
  row_id: bigint
  id_key: bigint
  id_tail: bigint
  kind: JobKind | 'text'
  account_id: bigint
  api_key_id: bigint
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
    apiKeyId: Number(row.api_key_id),
    model: row.model,
    provider: row.provider,
    reason: row.reason,
    loss,
    providerCost: nanoUsdOrNull(row.provider_cost),
    atMs: Number(row.at_ms),
  }
}
