import { addUsd, nanoUsd, subtractUsd, ZERO, type NanoUsd } from '../money.ts'
import { currentSpend } from './periods.ts'
import { rateStatus, waitMsFor, type RateBucket, type RateStatus } from './rate-bucket.ts'
import { budgetPeriods, type BudgetPeriod, type Scope, type Terms } from './scope.ts'
import { atClock, withDemand, withRead, type Demand, type ScopeUsage } from './scope-usage.ts'

/** A scope of a request: what it may use, and what it has used. */
export type ScopeState = { readonly scope: Scope; readonly terms: Terms; readonly usage: ScopeUsage }

/** The limit that refuses a request, and when a repeat can pass it. */
export type LimitRefusal = { readonly scope: Scope } & (
  | {
      readonly limit: 'requests_per_minute'
      readonly allowed: number
      readonly waitMs: number
    }
  | {
      readonly limit: 'tokens_per_minute'
      readonly allowed: number
      readonly asked: number
      /** Undefined if the request needs more than the limit of a whole minute. */
      readonly waitMs: number | undefined
    }
  | { readonly limit: 'concurrent_requests'; readonly allowed: number }
  | BudgetRefusal
)

export type BudgetRefusal = {
  readonly limit: 'budget'
  readonly period: BudgetPeriod
  readonly allowed: NanoUsd
  readonly spent: NanoUsd
  readonly reserved: NanoUsd
  /** What is left of this budget; zero if it is overspent. */
  readonly remaining: NanoUsd
  /**
   * What is left of the scarcest budget of all scopes, at most what is free of the balance: a worst case up to this
   * amount would pass all of them.
   */
  readonly affordable: NanoUsd
  /** True if the request would fit if the running text requests cost nothing: they hold the rest. */
  readonly isReserved: boolean
  /** When the period ends. Undefined for `total`. */
  readonly resetsAtMs: number | undefined
}

/**
 * The usages replace those of the scopes in both outcomes. After a refusal, nothing is taken; only the buckets have the
 * time of a clock that was set back, so that they fill from then on.
 */
export type LimitDecision = { readonly usages: readonly ScopeUsage[] } & (
  | { readonly outcome: 'admitted' }
  | { readonly outcome: 'refused'; readonly refusal: LimitRefusal }
)

/**
 * Takes the demand of a request from all of its scopes, or nothing from any. The first scope that refuses is named.
 * `free` is what no hold has of the balance; a refusal uses it to say what would fit.
 */
export function admit(
  states: readonly ScopeState[],
  demand: Demand,
  nowMs: number,
  free?: NanoUsd,
): LimitDecision {
  for (const state of states) {
    const refusal = rateRefusal(state, demand, nowMs) ?? budgetRefusal(state, demand, nowMs)
    if (refusal === undefined) continue
    if (refusal.limit !== 'budget') return refused(states, refusal, nowMs)
    return refused(states, { ...refusal, affordable: leastLeft(states, nowMs, free) }, nowMs)
  }
  return {
    outcome: 'admitted',
    usages: states.map(({ usage, terms }) => withDemand(usage, terms, demand, nowMs)),
  }
}

/** Like `admit`, for a read or an estimate: it counts as a request of the minute, and as nothing else. */
export function admitRead(states: readonly ScopeState[], nowMs: number): LimitDecision {
  for (const state of states) {
    const refusal = requestsRefusal(state, nowMs)
    if (refusal !== undefined) return refused(states, refusal, nowMs)
  }
  return { outcome: 'admitted', usages: states.map(({ usage, terms }) => withRead(usage, terms, nowMs)) }
}

/** The state of the strictest scope for each kind of limit: the one with the least left. Undefined without a limit. */
export type StrictestRates = {
  readonly requests?: RateStatus | undefined
  readonly tokens?: RateStatus | undefined
}

export function strictestRates(states: readonly ScopeState[], nowMs: number): StrictestRates {
  let requests: RateStatus | undefined
  let tokens: RateStatus | undefined
  for (const { usage, terms } of states) {
    requests = stricter(requests, statusOf(usage.requests, terms.limits.requests_per_minute, nowMs))
    tokens = stricter(tokens, statusOf(usage.tokens, terms.limits.tokens_per_minute, nowMs))
  }
  return { requests, tokens }
}

/** What is left of a budget, which is below zero after a shortfall. */
export function leftOf(
  { terms, usage }: Pick<ScopeState, 'terms' | 'usage'>,
  period: BudgetPeriod,
  nowMs: number,
): NanoUsd | undefined {
  const allowed = terms.budgets[period]
  if (allowed === undefined) return undefined
  const { spent } = currentSpend(usage.spent[period], period, nowMs)
  return subtractUsd(allowed, addUsd(spent, addUsd(usage.reserved.text, usage.reserved.media)))
}

function refused(states: readonly ScopeState[], refusal: LimitRefusal, nowMs: number): LimitDecision {
  return { outcome: 'refused', refusal, usages: states.map(({ usage }) => atClock(usage, nowMs)) }
}

function rateRefusal(state: ScopeState, { tokens }: Demand, nowMs: number): LimitRefusal | undefined {
  const { scope, terms, usage } = state
  const tooMany = requestsRefusal(state, nowMs)
  if (tooMany !== undefined) return tooMany
  const { tokens_per_minute: perMinute, concurrent_requests: most } = terms.limits
  if (usage.tokens !== undefined && perMinute !== undefined) {
    const waitMs = waitMsFor(usage.tokens, tokens, { perMinute, nowMs })
    if (waitMs !== 0) return { scope, limit: 'tokens_per_minute', allowed: perMinute, asked: tokens, waitMs }
  }
  if (most === undefined || usage.running < most) return undefined
  return { scope, limit: 'concurrent_requests', allowed: most }
}

function requestsRefusal({ scope, terms, usage }: ScopeState, nowMs: number): LimitRefusal | undefined {
  const { requests_per_minute: perMinute } = terms.limits
  if (usage.requests === undefined || perMinute === undefined) return undefined
  const waitMs = waitMsFor(usage.requests, 1, { perMinute, nowMs }) ?? 0
  return waitMs === 0 ? undefined : { scope, limit: 'requests_per_minute', allowed: perMinute, waitMs }
}

/** Names the budget that takes longest to have room again, because a retry before that is refused too. */
function budgetRefusal(
  state: ScopeState,
  { kind, amount }: Demand,
  nowMs: number,
): ({ readonly scope: Scope } & BudgetRefusal) | undefined {
  if (amount === ZERO) return undefined
  const { scope, terms, usage } = state
  let refusal: ({ readonly scope: Scope } & BudgetRefusal) | undefined
  const reserved = addUsd(usage.reserved.text, usage.reserved.media)
  const needed = addUsd(reserved, amount)
  for (const period of budgetPeriods) {
    const allowed = terms.budgets[period]
    if (allowed === undefined) continue
    const { spent, endMs } = currentSpend(usage.spent[period], period, nowMs)
    if (addUsd(spent, needed) <= allowed) continue
    const left = subtractUsd(allowed, addUsd(spent, reserved))
    const isReserved = kind === 'text' && amount <= addUsd(left, usage.reserved.text)
    const resetsAtMs = endMs === Infinity ? undefined : endMs
    if (refusal !== undefined && !isLater({ isReserved, resetsAtMs }, refusal)) continue
    const remaining = left < 0n ? ZERO : left
    refusal = {
      scope,
      limit: 'budget',
      period,
      allowed,
      spent,
      reserved,
      remaining,
      affordable: remaining,
      isReserved,
      resetsAtMs,
    }
  }
  return refusal
}

type Reset = Pick<BudgetRefusal, 'isReserved' | 'resetsAtMs'>

function isLater(one: Reset, other: Reset): boolean {
  if (one.isReserved !== other.isReserved) return !one.isReserved
  return (one.resetsAtMs ?? Infinity) > (other.resetsAtMs ?? Infinity)
}

function leastLeft(states: readonly ScopeState[], nowMs: number, free: NanoUsd | undefined): NanoUsd {
  const ofBudgets = states.flatMap(state => budgetPeriods.map(period => leftOf(state, period, nowMs)))
  const all = [free, ...ofBudgets]
  const least = all.reduce<NanoUsd | undefined>(
    (low, left) => (left === undefined || (low !== undefined && low <= left) ? low : left),
    undefined,
  )
  return least === undefined || least < 0n ? nanoUsd(0n) : least
}

function statusOf(
  bucket: RateBucket | undefined,
  perMinute: number | undefined,
  nowMs: number,
): RateStatus | undefined {
  return bucket === undefined || perMinute === undefined ? undefined : rateStatus(bucket, perMinute, nowMs)
}

function stricter(one: RateStatus | undefined, other: RateStatus | undefined): RateStatus | undefined {
  if (one === undefined || other === undefined) return one ?? other
  if (one.remaining !== other.remaining) return one.remaining < other.remaining ? one : other
  return one.resetMs >= other.resetMs ? one : other
}
