import type { Database, Statement } from 'bun:sqlite'
import { ACCOUNT_SUMS, IS_COMPENSATED, startOfDay } from '../../books/usage/usage-days.ts'
import type { Finding } from '../../books/verify/findings.ts'
import {
  findingsOfDay,
  UsageDaysCheck,
  type MeasuredCharge,
  type StoredUsage,
  type UsageGrain,
} from '../../books/verify/rules/usage-day-rules.ts'
import { areCostsAdded, isUsageRebuilt } from '../usage-days.ts'

const CHARGES_A_TURN = 256

/** Reads the charges in their order, and the stored usage of each day when it is compared. */
export function* checkUsageDays(database: Database): Generator<readonly Finding[]> {
  const grain = !isUsageRebuilt(database) ? 'account' : areCostsAdded(database) ? 'group_with_costs' : 'group'
  const tables = new UsageTables(database, grain)
  const check = new UsageDaysCheck(grain)
  for (;;) {
    const { rows, isDone } = tables.nextCharges()
    for (const row of rows) check.add(row)
    for (const day of check.due(isDone)) check.compare(day, tables.stored(day))
    yield []
    if (isDone) break
  }
  for (const day of tables.storedDays()) check.noteStored(day)
  // All rows of a day in the same turn.
  for (const day of check.doubtful)
    yield findingsOfDay(day, { stored: tables.stored(day), charges: tables.charges(day) }, grain)
}

const CHARGES = `SELECT *, ${IS_COMPENSATED} FROM charges`

/** The stored usage of a day. */
const STORED: Readonly<Record<UsageGrain, string>> = {
  group_with_costs: 'SELECT * FROM usage_days WHERE day = ?',
  group: `SELECT day, account_id, api_key_id, model, provider, first_charge_id, latest_charge_id, charges, input_tokens,
    output_tokens, images, duration_ms, cost, compensated FROM usage_days WHERE day = ?`,
  account: `SELECT account_id, ${ACCOUNT_SUMS}, 0 AS compensated FROM account_days WHERE day = ? GROUP BY account_id`,
}

class UsageTables {
  readonly #charges: Statement<MeasuredCharge, [bigint, number]>
  readonly #chargesOfDay: Statement<MeasuredCharge, [number, number]>
  readonly #stored: Statement<StoredUsage, [number]>
  readonly #nextDay: Statement<{ day: bigint | null }, [number]>
  #lastId = 0n

  constructor(database: Database, grain: UsageGrain) {
    this.#charges = database.prepare(`${CHARGES} WHERE id > ? ORDER BY id LIMIT ?`)
    // Reads the whole table. It is only used for days that seem to be wrong.
    this.#chargesOfDay = database.prepare(`${CHARGES} WHERE at_ms >= ? AND at_ms < ? ORDER BY id`)
    this.#stored = database.prepare(STORED[grain])
    this.#nextDay = database.prepare('SELECT min(day) AS day FROM account_days WHERE day > ?')
  }

  nextCharges(): { readonly rows: readonly MeasuredCharge[]; readonly isDone: boolean } {
    const rows = this.#charges.all(this.#lastId, CHARGES_A_TURN)
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return { rows, isDone: rows.length < CHARGES_A_TURN }
  }

  charges(day: number): readonly MeasuredCharge[] {
    return this.#chargesOfDay.all(startOfDay(day), startOfDay(day + 1))
  }

  stored(day: number): readonly StoredUsage[] {
    return this.#stored.all(day)
  }

  *storedDays(): Generator<number> {
    for (let day = -1; ;) {
      const next = this.#nextDay.get(day)?.day ?? null
      if (next === null) return
      day = Number(next)
      yield day
    }
  }
}
