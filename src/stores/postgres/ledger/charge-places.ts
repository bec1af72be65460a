import type { TimeRange } from '../../../gateway/ports/ledger/ledger-reports.ts'
import type { ChargeRow } from '../../books/rows/charge-rows.ts'
import { all, first, type Step } from '../../books/steps.ts'
import { DAYS_AFTER, latestChargeOf, type ChargePlaces } from '../../books/usage/charge-chain.ts'
import { dayOf } from '../../books/usage/usage-days.ts'

/** The clocks of nodes differ by less, so charges further apart than this are in the order of the chain. */
const SLACK_MS = 60_000
const SEQUENCE_BITS = 16n

/**
 * Finds charges by their times, because row ids of several lanes are in no order. The order of a list of all accounts
 * is that of the ids, which begin with the time of the request.
 */
export const chargePlaces: ChargePlaces = {
  *ofAccount(accountId, between) {
    const latest = yield* latestOf(accountId, between)
    return latest === null
      ? undefined
      : { latest, isBefore: ({ at_ms: atMs }) => Number(atMs) < between.fromMs - SLACK_MS }
  },
  *operationAfter(accountId, atMs) {
    return (yield* nearestAfter(accountId, atMs, 'AND operation_id IS NOT NULL'))?.operation_id ?? undefined
  },
  *firstOfDay() {
    return 0n
  },
  *ofAll(columns, { before, between: { fromMs, toMs }, limit }) {
    const after = yield* idOf(before)
    // A request is charged after its id was made.
    const end = BigInt(Math.min(toMs, MS_OF_IDS)) << SEQUENCE_BITS
    return yield* all<ChargeRow>(
      `SELECT ${columns} FROM charges
        WHERE id_key < ? AND (id_key, id_tail) < (CAST(? AS bigint), CAST(? AS bigint)) AND at_ms >= ? AND at_ms < ?
        ORDER BY id_key DESC, id_tail DESC LIMIT ?`,
      end,
      after.id_key,
      after.id_tail,
      fromMs,
      toMs,
      limit,
    )
  },
}

type IdRow = { id_key: bigint; id_tail: bigint }

/** The largest time that an id can begin with. */
const MS_OF_IDS = 2 ** 46
/** After every id. */
const LAST: IdRow = { id_key: 2n ** 63n - 1n, id_tail: 2n ** 63n - 1n }
/** Before every id, for a charge that is not there any more. */
const NONE: IdRow = { id_key: -(2n ** 63n), id_tail: -(2n ** 63n) }

function* idOf(rowId: bigint | undefined): Step<IdRow> {
  if (rowId === undefined) return LAST
  return (yield* first<IdRow>('SELECT id_key, id_tail FROM charges WHERE id = ?', rowId)) ?? NONE
}

/**
 * A charge that is not before any of the range: the earliest one of the days after it that the sums of days know, or
 * the latest one of the account.
 */
function* latestOf(accountId: number, { toMs }: TimeRange): Step<bigint | null> {
  return (yield* nearestAfter(accountId, toMs + SLACK_MS))?.id ?? (yield* latestChargeOf(accountId))
}

/** The earliest charge from a time on that the sums of a week know, of those that meet the condition. */
function* nearestAfter(
  accountId: number,
  atMs: number,
  condition = '',
): Step<{ readonly id: bigint; readonly operation_id: bigint | null } | undefined> {
  const day = dayOf(atMs)
  return yield* first(
    `SELECT id, operation_id FROM charges
      WHERE id IN (
          SELECT first_charge_id FROM usage_days WHERE day >= ? AND day <= ? AND account_id = ?
          UNION SELECT latest_charge_id FROM usage_days WHERE day >= ? AND day <= ? AND account_id = ?
        ) AND at_ms >= ? ${condition}
      ORDER BY at_ms LIMIT 1`,
    day,
    day + DAYS_AFTER,
    accountId,
    day,
    day + DAYS_AFTER,
    accountId,
    atMs,
  )
}
