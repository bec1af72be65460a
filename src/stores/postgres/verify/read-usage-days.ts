import { all } from '../../books/steps.ts'
import { IS_COMPENSATED } from '../../books/usage/usage-days.ts'
import type { Finding } from '../../books/verify/findings.ts'
import {
  UsageDaysCheck,
  type MeasuredCharge,
  type StoredUsage,
} from '../../books/verify/rules/usage-day-rules.ts'
import type { Snapshot } from './snapshot.ts'

/** Reads the charges in the order of time, and the stored usage of each day when all of its charges were read. */
export async function* checkUsageDays(snapshot: Snapshot): AsyncGenerator<readonly Finding[]> {
  const check = new UsageDaysCheck('group_with_costs')
  const compare = async (day: number) => check.compare(day, await snapshot.read(() => storedUsage(day)))
  for await (const charges of snapshot.rows<MeasuredCharge>(CHARGES)) {
    for (const charge of charges) check.add(charge)
    for (const day of check.due(false)) yield await compare(day)
  }
  for (const day of check.due(true)) yield await compare(day)
  for await (const days of snapshot.rows<{ day: bigint }>('SELECT DISTINCT day FROM usage_days ORDER BY day'))
    for (const { day } of days) if (!check.hasCompared(Number(day))) yield await compare(Number(day))
}

function storedUsage(day: number) {
  return all<StoredUsage>('SELECT * FROM usage_days WHERE day = ?', day)
}

const CHARGES = `SELECT *, ${IS_COMPENSATED} FROM charges ORDER BY at_ms`
