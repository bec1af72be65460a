import { formatId, type Id, type IdPrefix } from '../../../domain/ids.ts'
import { jobIdPrefix, type JobKind } from '../../../domain/jobs/job.ts'
import type { OperationKind } from '../../../domain/ledger/operation.ts'
import { nanoUsd } from '../../../domain/money.ts'
import type { StatementLine, StatementPage, TimeRange } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { attributionFrom, type AttributionColumns } from '../rows/attribution-columns.ts'
import { readStatementCursor, statementCursorOf, unknownCursor } from '../cursors.ts'
import { all, first, type StepRunner, type Step } from '../steps.ts'
import { ROWS_A_TURN, type ChargePlaces, type ReadSchedule } from './charge-chain.ts'
import { ALWAYS } from './usage-list.ts'
import { noBooks } from '../ledger/holds.ts'

/** A column of the charge that an operation belongs to, or of the job whose charge is still to come. */
const ofRequest = (column: keyof AttributionColumns) =>
  `coalesce((SELECT charges.${column} FROM charges WHERE id_key = subject_key AND id_tail = subject_tail),
    (SELECT jobs.${column} FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail)) AS ${column}`

// Subqueries, because a LEFT JOIN made each read nine times as slow.
const SELECT = `SELECT operations.*,
    (SELECT note FROM credits WHERE id_key = subject_key AND id_tail = subject_tail) AS note,
    (SELECT idempotency_key FROM credits WHERE id_key = subject_key AND id_tail = subject_tail) AS idempotency_key,
    (SELECT jobs.kind FROM jobs WHERE id_key = subject_key AND id_tail = subject_tail) AS job_kind,
    ${ofRequest('tags')}, ${ofRequest('user_id')}
  FROM operations`

const SELECT_CORRECTION = `SELECT note, idempotency_key, charges.id_key AS charge_key, charges.id_tail AS charge_tail, tags,
    user_id,
    (SELECT jobs.kind FROM jobs WHERE jobs.id_key = charges.id_key AND jobs.id_tail = charges.id_tail) AS job_kind
  FROM corrections LEFT JOIN charges ON charges.id = charge_id
  WHERE corrections.id_key = ? AND corrections.id_tail = ?`

/** The condition of the index of the operations of an account, in its words: SQLite uses it only then. */
const IS_INDEXED = "kind <> 'charge'"

/** A clock that was set back by less than this hides no line of a time. */
const SET_BACK_MS = 3_600_000

/** Reads the operations of an account, newest first. */
export class StatementList {
  readonly #stepRunner: StepRunner
  readonly #schedule: ReadSchedule
  readonly #places: Pick<ChargePlaces, 'operationAfter'>

  constructor(parts: {
    readonly stepRunner: StepRunner
    readonly schedule: ReadSchedule
    readonly chargePlaces: Pick<ChargePlaces, 'operationAfter'>
  }) {
    this.#stepRunner = parts.stepRunner
    this.#schedule = parts.schedule
    this.#places = parts.chargePlaces
  }

  async page(accountId: number, page: StatementPage): Promise<readonly StatementLine[]> {
    const { kinds } = page
    if (kinds !== undefined && !kinds.includes('charge'))
      return this.#stepRunner.read(() => indexedLines(accountId, { ...page, kinds }))
    return this.#walk(accountId, page)
  }

  /** Walks the chain of the account back, in turns between which other work runs. */
  async #walk(
    accountId: number,
    { limit, before, kinds, between }: StatementPage,
  ): Promise<readonly StatementLine[]> {
    const isChosen = ({ kind, at_ms: at }: ChainRow) =>
      (kinds === undefined || kinds.includes(kind)) &&
      (between === undefined || (Number(at) >= between.fromMs && Number(at) < between.toMs))
    const isAll = kinds === undefined && between === undefined
    const lines: StatementLine[] = []
    let next = await this.#stepRunner.read(() => this.#startOf(accountId, before, between))
    while (next !== null && lines.length < limit) {
      const from = next
      const rest = limit - lines.length
      const { rows, chosen } = await this.#stepRunner.read(function* () {
        const rows = yield* chainFrom(from, isAll ? Math.min(rest, ROWS_A_TURN) : ROWS_A_TURN)
        return { rows, chosen: yield* linesOf(rows.filter(isChosen).slice(0, rest)) }
      })
      const last = rows.at(-1)
      if (last === undefined) throw new Error(`Operation ${from} of account ${accountId} is missing.`)
      lines.push(...chosen)
      next = between !== undefined && last.at_ms < between.fromMs - SET_BACK_MS ? null : last.previous_id
      if (next !== null && lines.length < limit) await this.#schedule.next()
    }
    return lines
  }

  /** The operation to begin with: the nearest known one after the time, or that of the cursor if it is older. */
  *#startOf(
    accountId: number,
    before: string | undefined,
    between: TimeRange | undefined,
  ): Step<bigint | null> {
    const start = before === undefined ? yield* latestOf(accountId) : yield* placeBefore(accountId, before)
    if (start === null || between === undefined) return start
    const after = yield* this.#places.operationAfter(accountId, between.toMs + SET_BACK_MS)
    if (after === undefined) return start
    const [nearer] = yield* all<{ id: bigint }>(
      'SELECT id FROM operations WHERE id = ? OR id = ? ORDER BY number LIMIT 1',
      start,
      after,
    )
    return nearer?.id ?? start
  }
}

/** The columns of an operation that a walk needs. */
type ChainRow = {
  readonly id: bigint
  readonly previous_id: bigint | null
  readonly kind: OperationKind
  readonly at_ms: bigint
}

/** At most `limit` operations from this one back. */
function chainFrom(latest: bigint, limit: number): Step<readonly ChainRow[]> {
  return all<ChainRow>(
    `WITH RECURSIVE chain (id, previous_id, kind, at_ms, place) AS (
        SELECT id, previous_id, kind, at_ms, 1 FROM operations WHERE id = ?
        UNION ALL SELECT operations.id, operations.previous_id, operations.kind, operations.at_ms, place + 1
          FROM chain JOIN operations ON operations.id = chain.previous_id WHERE place < ?
      )
      SELECT id, previous_id, kind, at_ms FROM chain ORDER BY place`,
    latest,
    limit,
  )
}

/** The lines of these operations, in their order. */
function* linesOf(operations: readonly ChainRow[]): Step<readonly StatementLine[]> {
  if (operations.length === 0) return []
  const places = operations.map(() => '?').join(', ')
  const rows = yield* all<StatementRow>(
    `${SELECT} WHERE id IN (${places}) ORDER BY number DESC`,
    ...operations.map(({ id }) => id),
  )
  return yield* completeLines(rows)
}

function* completeLines(rows: readonly StatementRow[]): Step<readonly StatementLine[]> {
  const lines: StatementLine[] = []
  for (const row of rows) lines.push(yield* completeLine(row))
  return lines
}

/** Lines of kinds that an index has, because they are few among many charges. */
function* indexedLines(
  accountId: number,
  { limit, before, kinds, between = ALWAYS }: StatementPage & { readonly kinds: readonly OperationKind[] },
): Step<readonly StatementLine[]> {
  const start = before === undefined ? undefined : yield* placeBefore(accountId, before)
  if (start === null || kinds.length === 0) return []
  const rows = yield* all<StatementRow>(
    `${SELECT} WHERE account_id = ? AND ${IS_INDEXED} AND kind IN (${kinds.map(() => '?').join(', ')})
      ${start === undefined ? '' : 'AND number <= (SELECT number FROM operations AS latest WHERE latest.id = ?)'}
      AND at_ms >= ? AND at_ms < ? ORDER BY number DESC LIMIT ?`,
    accountId,
    ...kinds,
    ...(start === undefined ? [] : [start]),
    between.fromMs,
    between.toMs,
    limit,
  )
  return yield* completeLines(rows)
}

function* latestOf(accountId: number): Step<bigint | null> {
  const row = yield* first<{ latest: bigint | null }>(
    'SELECT latest_operation_id AS latest FROM balances WHERE account_id = ?',
    accountId,
  )
  if (row === undefined) throw noBooks(accountId)
  return row.latest
}

/**
 * The operation before the one of a cursor. If the account has no such operation, throws `invalid_field`, and returns
 * null for a cursor of an earlier version, which has no number.
 */
function* placeBefore(accountId: number, cursor: string): Step<bigint | null> {
  const { rowId, number } = readStatementCursor(cursor)
  const row = yield* first<Pick<StatementRow, 'account_id' | 'number' | 'previous_id'>>(
    'SELECT account_id, number, previous_id FROM operations WHERE id = ?',
    rowId,
  )
  const isOwn = row !== undefined && Number(row.account_id) === accountId
  if (isOwn && (number === undefined || row.number === number)) return row.previous_id
  if (number === undefined) return null
  throw unknownCursor()
}

function* completeLine(row: StatementRow): Step<StatementLine> {
  if (row.kind !== 'debit' && row.kind !== 'refund') return lineFrom(row)
  const correction = yield* first<CorrectionNote>(SELECT_CORRECTION, row.subject_key, row.subject_tail)
  if (correction === undefined) return lineFrom(row)
  const { note } = correction
  return { ...lineFrom(row), note, ref: refOfCorrection(correction), ...attributionFrom(correction) }
}

/** Of a refund also the id and kind of its charge. */
type CorrectionNote = AttributionColumns & {
  note: string | null
  idempotency_key: string | null
  charge_key: bigint | null
  charge_tail: bigint | null
  job_kind: JobKind | null
}

type StatementRow = AttributionColumns & {
  id: bigint
  number: bigint
  previous_id: bigint | null
  account_id: bigint
  kind: OperationKind
  subject_key: bigint
  subject_tail: bigint
  amount: bigint
  at_ms: bigint
  note: string | null
  idempotency_key: string | null
  job_kind: JobKind | null
}

function lineFrom(row: StatementRow): StatementLine {
  const id = { key: row.subject_key, tail: row.subject_tail }
  return {
    id,
    number: Number(row.number),
    cursor: statementCursorOf(row),
    kind: row.kind,
    amount: nanoUsd(row.amount),
    ref: refOf(row, id),
    note: row.note,
    ...attributionFrom(row),
    atMs: Number(row.at_ms),
  }
}

/**
 * The prefix of the public id of an operation's subject, unless that is a job. A credit is known by its idempotency
 * key.
 */
const prefixOf = {
  top_up: null,
  grant: null,
  charge: 'req',
  compensation: 'req',
  hold: 'hold',
  capture: 'hold',
  release: 'hold',
  expire: 'hold',
  // The charge of a refund is known by its own id.
  debit: null,
  refund: null,
  loss: 'hold',
} as const satisfies Record<OperationKind, IdPrefix | null>

/** A refund is known by its charge, and a debit by its idempotency key. */
function refOfCorrection({ idempotency_key, charge_key, charge_tail, job_kind }: CorrectionNote): string {
  if (charge_key === null || charge_tail === null) return idempotency_key ?? ''
  return formatId(job_kind === null ? 'req' : jobIdPrefix[job_kind], { key: charge_key, tail: charge_tail })
}

function refOf({ kind, idempotency_key, job_kind }: StatementRow, id: Id): string {
  const prefix = job_kind === null ? prefixOf[kind] : jobIdPrefix[job_kind]
  return prefix === null ? (idempotency_key ?? '') : formatId(prefix, id)
}
