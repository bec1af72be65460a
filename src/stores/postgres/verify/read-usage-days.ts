import { all } from '../../books/steps.ts'
import { IS_COMPENSATED, startOfDay } from '../../books/usage/usage-days.ts'
import type { Finding } from '../../books/verify/findings.ts'
import {
  UsageDaysCheck,
  type MeasuredCharge,
  type StoredUsage,
} from '../../books/verify/rules/usage-day-rules.ts'
import type { CheckedBooks } from './checked-books.ts'
import type { Snapshot } from './snapshot.ts'

/** Reads the charges in the order of time, and the stored usage of each day when all of its charges were read. */
export async function* checkUsageDays(snapshot: Snapshot): AsyncGenerator<readonly Finding[]> {
  const check = new UsageDaysCheck('group_with_costs')
  yield* compareDays(snapshot, check, `${CHARGES} ORDER BY at_ms`)
  for await (const days of snapshot.rows<StoredDay>('SELECT DISTINCT day FROM usage_days ORDER BY day'))
    for (const { day } of days)
      if (!check.hasCompared(Number(day))) yield await compareDay(snapshot, check, Number(day))
}

/**
 * Compares only the days that have charges which are new since `checked`, with all of their charges. (A charge that is
 * given back is written together with that.)
 */
export async function* checkUsageDaysSince(
  snapshot: Snapshot,
  checked: CheckedBooks,
): AsyncGenerator<readonly Finding[]> {
  const days: number[] = []
  const select = `SELECT DISTINCT at_ms / ${MS_PER_DAY} AS day FROM charges WHERE ${checked.isNew('id')} ORDER BY day`
  for await (const rows of snapshot.rows<StoredDay>(select)) days.push(...rows.map(({ day }) => Number(day)))
  if (days.length === 0) return
  const ofDays = days.map(day => `at_ms >= ${startOfDay(day)} AND at_ms < ${startOfDay(day + 1)}`)
  const charges = `${CHARGES} WHERE ${ofDays.join(' OR ')} ORDER BY at_ms`
  yield* compareDays(snapshot, new UsageDaysCheck('group_with_costs'), charges)
}

async function* compareDays(
  snapshot: Snapshot,
  check: UsageDaysCheck,
  select: string,
): AsyncGenerator<readonly Finding[]> {
  for await (const charges of snapshot.rows<MeasuredCharge>(select)) {
    for (const charge of charges) check.add(charge)
    for (const day of check.due(false)) yield await compareDay(snapshot, check, day)
  }
  for (const day of check.due(true)) yield await compareDay(snapshot, check, day)
}

async function compareDay(
  { read }: Snapshot,
  check: UsageDaysCheck,
  day: number,
): Promise<readonly Finding[]> {
  return check.compare(day, await read(() => all<StoredUsage>('SELECT * FROM usage_days WHERE day = ?', day)))
}

const MS_PER_DAY = 86_400_000

type StoredDay = { day: bigint }

const CHARGES = `SELECT *, ${IS_COMPENSATED} FROM charges`
