import type { HoldKind } from '../ledger/books.ts'
import { addUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'
import { currentSpend, withSpend, type BudgetTold, type PeriodSpend } from './periods.ts'
import { fullBucket, notAfter, taken, type RateBucket } from './rate-bucket.ts'
import { budgetPeriods, type BudgetPeriod, type Terms } from './scope.ts'

/** What a request takes of each of its scopes, beside one request of the minute. */
export type Demand = {
  readonly kind: HoldKind
  /** The estimated input and the output ceiling. Zero for media. */
  readonly tokens: number
  /** Its worst case. */
  readonly amount: NanoUsd
}

/** What a request used. Both are zero if nothing was charged. */
export type Used = { readonly tokens: number; readonly cost: NanoUsd; readonly atMs: number }

/** What a scope has used, as far as its terms need it. */
export type ScopeUsage = {
  /** Undefined without a limit. */
  readonly requests: RateBucket | undefined
  readonly tokens: RateBucket | undefined
  /** The number of open requests and jobs. */
  readonly running: number
  /** The worst cases of the open requests and jobs together. */
  readonly reserved: Readonly<Record<HoldKind, NanoUsd>>
  /** Has the periods that have a budget. */
  readonly spent: Readonly<Partial<Record<BudgetPeriod, PeriodSpend>>>
}

/** What is known of a scope beside its terms. */
export type ScopeFacts = {
  /** The requests and jobs that are open now. */
  readonly open: readonly Demand[]
  /** The charges since the start of a period. */
  readonly spentSince: (startMs: number) => NanoUsd
  /** What was told of a period of a budget. */
  readonly told: (period: BudgetPeriod, startMs: number) => BudgetTold
  readonly nowMs: number
}

/**
 * The usage of a scope after a start, or after its terms changed. Its budgets count what was spent before, its
 * concurrency and reserve count the open requests, and a new bucket lacks what they may still use. A bucket that was
 * there `before` stays.
 */
export function usageUnder(
  { limits, budgets }: Terms,
  { open, spentSince, told, nowMs }: ScopeFacts,
  before?: ScopeUsage,
): ScopeUsage {
  const { requests_per_minute: requests, tokens_per_minute: tokens } = limits
  const spent: Partial<Record<BudgetPeriod, PeriodSpend>> = {}
  for (const period of budgetPeriods) {
    if (budgets[period] === undefined) continue
    const { startMs, endMs, spentBefore } = currentSpend(before?.spent[period], period, nowMs)
    const sum = addUsd(spentSince(startMs), spentBefore)
    spent[period] = { startMs, endMs, spent: sum, spentBefore, told: told(period, startMs) }
  }
  const openTokens = open.reduce((sum, demand) => sum + demand.tokens, 0)
  return {
    requests: requests === undefined ? undefined : (before?.requests ?? fullBucket(requests, nowMs)),
    tokens:
      tokens === undefined
        ? undefined
        : (before?.tokens ?? taken(fullBucket(tokens, nowMs), openTokens, { perMinute: tokens, nowMs })),
    ...openUsage(open),
    spent,
  }
}

/** What the open requests and jobs of a scope take until they end. */
export function openUsage(open: readonly Demand[]): Pick<ScopeUsage, 'running' | 'reserved'> {
  return {
    running: open.length,
    reserved: { text: reservedBy(open, 'text'), media: reservedBy(open, 'media') },
  }
}

/** The same usage, for a clock that was set back: its buckets fill again from now on. */
export function atClock(usage: ScopeUsage, nowMs: number): ScopeUsage {
  const requests = usage.requests && notAfter(usage.requests, nowMs)
  const tokens = usage.tokens && notAfter(usage.tokens, nowMs)
  return requests === usage.requests && tokens === usage.tokens ? usage : { ...usage, requests, tokens }
}

/** The usage after a request was admitted. */
export function withDemand(usage: ScopeUsage, terms: Terms, demand: Demand, nowMs: number): ScopeUsage {
  const { kind, amount } = demand
  return {
    requests: takenOf(usage.requests, 1, terms.limits.requests_per_minute, nowMs),
    tokens: takenOf(usage.tokens, demand.tokens, terms.limits.tokens_per_minute, nowMs),
    running: usage.running + 1,
    reserved: withReserve(usage.reserved, kind, addUsd(usage.reserved[kind], amount)),
    spent: usage.spent,
  }
}

/** The usage after a read, which counts only as a request. */
export function withRead(usage: ScopeUsage, terms: Terms, nowMs: number): ScopeUsage {
  return { ...usage, requests: takenOf(usage.requests, 1, terms.limits.requests_per_minute, nowMs) }
}

/**
 * The usage after an admitted request ended, however it ended: its slot and its reserve are free again, its cost is
 * spent, and the tokens that it did not use are given back. Tokens beyond those are a debt.
 */
export function withoutDemand(usage: ScopeUsage, terms: Terms, demand: Demand, used: Used): ScopeUsage {
  const { kind, amount, tokens } = demand
  const { tokens_per_minute: perMinute } = terms.limits
  return {
    requests: usage.requests,
    tokens: takenOf(usage.tokens, used.tokens - tokens, perMinute, used.atMs),
    running: usage.running - 1,
    reserved: withReserve(usage.reserved, kind, subtractUsd(usage.reserved[kind], amount)),
    spent: used.cost === ZERO ? usage.spent : withCost(usage.spent, used),
  }
}

/**
 * The usage after an earlier request of the scope, which gave back what it took, is found to have used tokens: a debt.
 */
export function withDebt(usage: ScopeUsage, terms: Terms, { tokens, atMs }: Omit<Used, 'cost'>): ScopeUsage {
  return { ...usage, tokens: takenOf(usage.tokens, tokens, terms.limits.tokens_per_minute, atMs) }
}

/** The sums after a charge that no open request of the scope belongs to, such as one after its hold expired. */
export function withCost(spent: ScopeUsage['spent'], used: Pick<Used, 'cost' | 'atMs'>): ScopeUsage['spent'] {
  const sums: Partial<Record<BudgetPeriod, PeriodSpend>> = {}
  for (const period of budgetPeriods) {
    const stored = spent[period]
    if (stored !== undefined) sums[period] = withSpend(stored, period, used)
  }
  return sums
}

function withReserve(
  { text, media }: ScopeUsage['reserved'],
  kind: HoldKind,
  sum: NanoUsd,
): ScopeUsage['reserved'] {
  return kind === 'text' ? { text: sum, media } : { text, media: sum }
}

function takenOf(
  bucket: RateBucket | undefined,
  count: number,
  perMinute: number | undefined,
  nowMs: number,
): RateBucket | undefined {
  return bucket === undefined || perMinute === undefined ? bucket : taken(bucket, count, { perMinute, nowMs })
}

function reservedBy(open: readonly Demand[], kind: HoldKind): NanoUsd {
  return open.reduce((sum, demand) => (demand.kind === kind ? addUsd(sum, demand.amount) : sum), ZERO)
}
