import type { Upstream } from '../../domain/catalog/model.ts'
import type { Clock } from '../ports/clock.ts'

/**
 * One retry is allowed for this many requests to an upstream. More would add to the load of a failing upstream.
 */
const REQUESTS_PER_RETRY = 10
/** The share is counted over this time, from the first retry on. */
export const RETRY_WINDOW_MS = 10_000

/** Counts the requests of the upstreams of each model, and limits their retries to a tenth of them, rounded up. */
export class RetryBudgets {
  readonly #budgets = new WeakMap<Upstream, Budget>()
  readonly #clock: Pick<Clock, 'monotonicMs'>

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Call it for each request to an upstream, retries excepted. */
  countRequest(upstream: Upstream): void {
    const budget = this.#budgets.get(upstream)
    if (budget !== undefined) budget.requests += 1
    else this.#budgets.set(upstream, { requests: 1, retries: 0, endsAtMs: -Infinity })
  }

  /** Takes one retry. False if the upstream has none left. */
  takeRetry(upstream: Upstream): boolean {
    const budget = this.#budgets.get(upstream)
    if (budget === undefined) return false
    const nowMs = this.#clock.monotonicMs()
    // No clock is read for requests that succeed. So a window begins with the first request that could be retried.
    if (nowMs >= budget.endsAtMs) {
      budget.requests = 1
      budget.retries = 0
      budget.endsAtMs = nowMs + RETRY_WINDOW_MS
    }
    if (budget.retries * REQUESTS_PER_RETRY >= budget.requests) return false
    budget.retries += 1
    return true
  }
}

type Budget = { requests: number; retries: number; endsAtMs: number }
