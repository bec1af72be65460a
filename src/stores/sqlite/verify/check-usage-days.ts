import type { Database, Statement } from 'bun:sqlite'
import { describeUsd } from '../../../domain/money.ts'
import type { UsageTotals } from '../../../gateway/ports/ledger.ts'
import {
  addTotals,
  dayOf,
  startOfDay,
  totalsOfRow,
  usageDayFrom,
  type ChargeMeasures,
  type UsageDay,
  type UsageDayRow,
} from '../../books/usage-days.ts'
import type { AccountNames } from './account-names.ts'
import type { Finding } from './finding.ts'

const CHARGES_A_TURN = 256
/**
 * Charges of a day come after those of the day before, unless the clock was set back or a transaction crosses midnight.
 */
const DAYS_OPEN = 2

type StoredCharge = ChargeMeasures & { id: bigint; account_id: bigint; at_ms: bigint }

/** The usage of each account on one day. */
type Day = Map<number, UsageDay>

/**
 * The stored usage of each account and day must be the sums of its charges. The charges are added up in order. A day is
 * compared when later days have begun. A day that does not match, or that gets a charge after its comparison, is added
 * up again at the end. This uses all of its charges and the stored row in one turn, because charges may have been
 * written during the check.
 */
export function* checkUsageDays(database: Database, names: AccountNames): Generator<readonly Finding[]> {
  const tables = new UsageTables(database)
  const open = new Map<number, Day>()
  const compared = new Set<number>()
  const doubtful = new Set<number>()
  for (;;) {
    const { rows, isDone } = tables.nextCharges()
    for (const row of rows) {
      const day = dayOf(Number(row.at_ms))
      if (compared.has(day)) doubtful.add(day)
      else addTo(open, day, row)
    }
    const newest = Math.max(...open.keys())
    for (const [day, sums] of open) {
      if (!isDone && day > newest - DAYS_OPEN) continue
      if (wrongUsages(tables.stored(day), sums).length > 0) doubtful.add(day)
      open.delete(day)
      compared.add(day)
    }
    yield []
    if (isDone) break
  }
  for (const day of tables.storedDays()) if (!compared.has(day)) doubtful.add(day)
  for (const day of doubtful) {
    const date = new Date(startOfDay(day)).toISOString().slice(0, 10)
    yield wrongUsages(tables.stored(day), tables.sums(day)).map(({ accountId, problem }) => ({
      accountId,
      entryId: null,
      message: `${names.of(accountId)}: the usage of ${date} ${problem}.`,
    }))
  }
}

class UsageTables {
  readonly #charges: Statement<StoredCharge, [bigint, number]>
  readonly #chargesOfDay: Statement<StoredCharge, [number, number]>
  readonly #stored: Statement<UsageDayRow, [number]>
  readonly #nextDay: Statement<{ day: bigint | null }, [number]>
  #lastId = 0n

  constructor(database: Database) {
    this.#charges = database.prepare('SELECT * FROM charges WHERE id > ? ORDER BY id LIMIT ?')
    // Reads the whole table. It is only used for days that seem to be wrong.
    this.#chargesOfDay = database.prepare('SELECT * FROM charges WHERE at_ms >= ? AND at_ms < ? ORDER BY id')
    this.#stored = database.prepare('SELECT * FROM usage_days WHERE day = ?')
    this.#nextDay = database.prepare('SELECT min(day) AS day FROM usage_days WHERE day > ?')
  }

  nextCharges(): { readonly rows: readonly StoredCharge[]; readonly isDone: boolean } {
    const rows = this.#charges.all(this.#lastId, CHARGES_A_TURN)
    this.#lastId = rows.at(-1)?.id ?? this.#lastId
    return { rows, isDone: rows.length < CHARGES_A_TURN }
  }

  stored(day: number): Day {
    return new Map(this.#stored.all(day).map(row => [Number(row.account_id), usageDayFrom(row)]))
  }

  sums(day: number): Day {
    const days = new Map<number, Day>()
    for (const row of this.#chargesOfDay.all(startOfDay(day), startOfDay(day + 1))) addTo(days, day, row)
    return days.get(day) ?? new Map()
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

function addTo(days: Map<number, Day>, day: number, row: StoredCharge): void {
  const sums = days.get(day) ?? new Map<number, UsageDay>()
  days.set(day, sums)
  const accountId = Number(row.account_id)
  const before = sums.get(accountId)
  const totals = totalsOfRow(row)
  sums.set(accountId, {
    first: before?.first ?? row.id,
    latest: row.id,
    totals: before === undefined ? totals : addTotals(before.totals, totals),
  })
}

type WrongUsage = { readonly accountId: number; readonly problem: string }

function wrongUsages(stored: Day, sums: Day): readonly WrongUsage[] {
  const accountIds = [...new Set([...stored.keys(), ...sums.keys()])]
  return accountIds.flatMap(accountId => {
    const problem = problemOf(stored.get(accountId), sums.get(accountId))
    return problem === undefined ? [] : [{ accountId, problem }]
  })
}

function problemOf(stored: UsageDay | undefined, sum: UsageDay | undefined): string | undefined {
  if (sum === undefined) return 'is stored, but there are no charges'
  if (stored === undefined) return 'is missing'
  const wrong = measures.find(measure => stored.totals[measure] !== sum.totals[measure])
  if (wrong !== undefined)
    return `has ${stored.totals[wrong]} ${labelOf[wrong]}, but its charges add up to ${sum.totals[wrong]}`
  if (stored.totals.cost !== sum.totals.cost)
    return `costs ${describeUsd(stored.totals.cost)}, but its charges add up to ${describeUsd(sum.totals.cost)}`
  return stored.first === sum.first && stored.latest === sum.latest
    ? undefined
    : `names charge rows ${stored.first} and ${stored.latest} as its first and latest, but those are ${sum.first} and ${sum.latest}`
}

const labelOf = {
  charges: 'charges',
  inputTokens: 'input tokens',
  outputTokens: 'output tokens',
  images: 'images',
  durationMs: 'milliseconds of video',
} as const satisfies Partial<Record<keyof UsageTotals, string>>
const measures = Object.keys(labelOf) as (keyof typeof labelOf)[]
