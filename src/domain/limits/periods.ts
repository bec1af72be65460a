import { addUsd, ZERO, type NanoUsd } from '../money.ts'
import type { BudgetPeriod } from './scope.ts'

const MS_PER_DAY = 86_400_000
const DAYS_PER_WEEK = 7
/** 1970-01-01 was a Thursday, three days after a Monday. */
const DAYS_AFTER_MONDAY = 3

/** A period in UTC. The start is included, the end is not. */
export type Period = { readonly startMs: number; readonly endMs: number }

/** What was spent in a period. No job resets it: a period that is over counts as nothing. */
export type PeriodSpend = Period & {
  readonly spent: NanoUsd
  /**
   * The part that was recorded before the start, after the clock was set back. The sums on disk have it on earlier
   * days.
   */
  readonly spentBefore: NanoUsd
  readonly told: BudgetTold
}

/** What was told of a budget in a period. Each is told once. */
export type BudgetTold = { readonly nearlySpent: boolean; readonly reached: boolean }

export const NOTHING_TOLD: BudgetTold = { nearlySpent: false, reached: false }

/** The period that contains an instant. `total` starts in 1970 and never ends. */
export function periodAt(period: BudgetPeriod, atMs: number): Period {
  const day = Math.floor(atMs / MS_PER_DAY)
  switch (period) {
    case 'day':
      return days(day, 1)
    case 'week': {
      const afterMonday = (((day + DAYS_AFTER_MONDAY) % DAYS_PER_WEEK) + DAYS_PER_WEEK) % DAYS_PER_WEEK
      return days(day - afterMonday, DAYS_PER_WEEK)
    }
    case 'month': {
      const date = new Date(atMs)
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
      return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) }
    }
    case 'total':
      return { startMs: 0, endMs: Infinity }
  }
}

/**
 * What was spent in the current period. A stored period is current until it ends, also if the clock is set back to
 * before its start, so that a period is never counted twice.
 */
export function currentSpend(
  stored: PeriodSpend | undefined,
  period: BudgetPeriod,
  nowMs: number,
): PeriodSpend {
  if (stored !== undefined && nowMs < stored.endMs) return stored
  return { ...periodAt(period, nowMs), spent: ZERO, spentBefore: ZERO, told: NOTHING_TOLD }
}

/** Counts a cost in the period in which it is recorded. */
export function withSpend(
  stored: PeriodSpend | undefined,
  period: BudgetPeriod,
  { cost, atMs }: { readonly cost: NanoUsd; readonly atMs: number },
): PeriodSpend {
  const current = currentSpend(stored, period, atMs)
  const { startMs, endMs, told } = current
  const spentBefore = atMs < startMs ? addUsd(current.spentBefore, cost) : current.spentBefore
  return { startMs, endMs, spent: addUsd(current.spent, cost), spentBefore, told }
}

function days(firstDay: number, count: number): Period {
  return { startMs: firstDay * MS_PER_DAY, endMs: (firstDay + count) * MS_PER_DAY }
}
