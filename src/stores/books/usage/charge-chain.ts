import type { TimeRange } from '../../../gateway/ports/ledger/ledger-reports.ts'
import type { ChargeRow } from '../rows/charge-rows.ts'
import { all, type StepRunner, type Step } from '../steps.ts'
import { noBooks } from '../ledger/holds.ts'

/** The columns of a charge that a walk needs. */
export type ChainedRow = { readonly id: bigint; readonly previous_id: bigint | null; readonly at_ms: bigint }

/**
 * Rows that are read at once: at most a few milliseconds, in which the requests of a SQLite store wait. A walk over
 * many charges takes the more turns.
 */
export const ROWS_A_TURN = 100

/** The days after a range that are looked at for the nearest charge after it. */
export const DAYS_AFTER = 7

/** Resolves when the next piece of a long read may run. */
export type ReadSchedule = { next(): Promise<void> }

/** The part of an account's chain of charges that has all charges of a time range. */
export type ChainPart = {
  /** The row id of its latest charge; null if there is none. */
  readonly latest: bigint | null
  /** Whether a charge, and so all charges before it, is before the part. */
  isBefore(row: ChainedRow): boolean
}

/** How a store finds charges, which have no index by account. */
export interface ChargePlaces {
  /** Undefined if the account has no charge in the range. */
  ofAccount(accountId: number, between: TimeRange): Step<ChainPart | undefined>

  /**
   * An operation of the account before which all its operations are that are earlier than a time: one of the nearest
   * charge after it. Undefined if there is none within a week.
   */
  operationAfter(accountId: number, atMs: number): Step<bigint | undefined>

  /** The row id before which no charge of a day is. Undefined if the day has none. */
  firstOfDay(day: number): Step<bigint | undefined>

  /**
   * At most `limit` charges of all accounts in a range, newest first: those after the charge `before`, and not before
   * the row id `first`. `columns` are those of the result.
   */
  ofAll(
    columns: string,
    page: {
      readonly before: bigint | undefined
      readonly first: bigint
      readonly between: TimeRange
      readonly limit: number
    },
  ): Step<readonly ChargeRow[]>
}

/** The latest charge of an account. */
export function* latestChargeOf(accountId: number): Step<bigint | null> {
  const [row] = yield* all<{ latest_charge_id: bigint | null }>(
    'SELECT latest_charge_id FROM balances WHERE account_id = ?',
    accountId,
  )
  if (row === undefined) throw noBooks(accountId)
  return row.latest_charge_id
}

/**
 * The charges of an account from the latest one of a part back, which are linked by `previous_id`. It pauses after each
 * turn, because there can be many.
 */
export async function* walkCharges<Row extends ChainedRow>(
  { stepRunner, schedule }: { readonly stepRunner: StepRunner; readonly schedule: ReadSchedule },
  columns: string,
  {
    accountId,
    part,
    rowsATurn = ROWS_A_TURN,
  }: {
    readonly accountId: number
    readonly part: ChainPart
    readonly rowsATurn?: number
  },
): AsyncGenerator<Row> {
  let next = part.latest
  while (next !== null) {
    const from = next
    const rows = await stepRunner.read(() => chainFrom<Row>(columns, from, rowsATurn))
    const last = rows.at(-1)
    if (last === undefined) throw new Error(`Charge ${next} of account ${accountId} is missing.`)
    for (const row of rows) {
      if (part.isBefore(row)) return
      yield row
    }
    next = last.previous_id
    await schedule.next()
  }
}

/** At most `limit` charges from this one back. */
function chainFrom<Row>(columns: string, latest: bigint, limit: number): Step<readonly Row[]> {
  return all<Row>(
    `WITH RECURSIVE chain (charge, earlier, place) AS (
        SELECT id, previous_id, 1 FROM charges WHERE id = ?
        UNION ALL SELECT charges.id, charges.previous_id, place + 1
          FROM chain JOIN charges ON charges.id = earlier WHERE place < ?
      )
      SELECT ${columns} FROM chain JOIN charges ON charges.id = charge ORDER BY place`,
    latest,
    limit,
  )
}
