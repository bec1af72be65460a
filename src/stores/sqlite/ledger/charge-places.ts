import type { ChargeRow } from '../../books/rows/charge-rows.ts'
import { ROW_ID_MAX } from '../../books/cursors.ts'
import { all, first, type Step } from '../../books/steps.ts'
import { DAYS_AFTER, type ChargePlaces } from '../../books/usage/charge-chain.ts'
import { dayOf } from '../../books/usage/usage-days.ts'

/** The row ids between which all charges of a time range are. */
type Bounds = { readonly first: bigint; readonly latest: bigint }

/**
 * Finds charges by their row ids, which grow. The table `usage_days` has those of the first and the latest charge of a
 * day, because charges have no index by time.
 */
export const chargePlaces: ChargePlaces = {
  *ofAccount(accountId, { fromMs, toMs }) {
    let bounds: Bounds | undefined
    for (let day = dayOf(fromMs); day <= dayOf(toMs - 1); day += 1) {
      const found = yield* boundsOfDay(day, accountId)
      if (found !== undefined) bounds = bounds === undefined ? found : joined(bounds, found)
    }
    if (bounds === undefined) return undefined
    const { first, latest } = bounds
    return { latest, isBefore: ({ id }) => id < first }
  },
  *operationAfter(accountId, atMs) {
    // Days are those of the charges' times, so all charges of a later day are after the time.
    for (let day = dayOf(atMs) + 1; day <= dayOf(atMs) + DAYS_AFTER; day += 1) {
      const row = yield* first<{ operation_id: bigint }>(
        `SELECT operation_id FROM charges
          WHERE id IN (
              SELECT first_charge_id FROM account_days WHERE day = ? AND account_id = ?
              UNION SELECT latest_charge_id FROM account_days WHERE day = ? AND account_id = ?
            ) AND operation_id IS NOT NULL
          ORDER BY id LIMIT 1`,
        day,
        accountId,
        day,
        accountId,
      )
      if (row !== undefined) return row.operation_id
    }
    return undefined
  },
  *firstOfDay(day) {
    return (yield* boundsOfDay(day))?.first
  },
  ofAll: (columns, { before = ROW_ID_MAX, first, between: { fromMs, toMs }, limit }) =>
    all<ChargeRow>(
      `SELECT ${columns} FROM charges
        WHERE id < ? AND id >= ? AND at_ms >= ? AND at_ms < ? ORDER BY id DESC LIMIT ?`,
      before,
      first,
      fromMs,
      toMs,
      limit,
    ),
}

/** The bounds of one account's charges, or of all charges if it is undefined. Undefined if there are none. */
function* boundsOfDay(day: number, accountId?: number): Step<Bounds | undefined> {
  const ofDay =
    'SELECT min(first_charge_id) AS first, max(latest_charge_id) AS latest FROM account_days WHERE day = ?'
  const row =
    accountId === undefined
      ? yield* first<BoundsRow>(ofDay, day)
      : yield* first<BoundsRow>(`${ofDay} AND account_id = ?`, day, accountId)
  const { first: start = null, latest = null } = row ?? {}
  return start === null || latest === null ? undefined : { first: start, latest }
}

type BoundsRow = { first: bigint | null; latest: bigint | null }

function joined(one: Bounds, other: Bounds): Bounds {
  return {
    first: one.first < other.first ? one.first : other.first,
    latest: one.latest > other.latest ? one.latest : other.latest,
  }
}
