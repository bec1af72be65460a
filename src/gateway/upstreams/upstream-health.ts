import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Upstream } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import type { FailingUpstream } from '../../domain/webhooks/provider-alert.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Clock } from '../ports/clock.ts'
import type { UpstreamFailureReason } from './attempt-result.ts'
import type { Destination } from './destinations.ts'

/** A circuit breaker opens after this many consecutive failures. One or two may be a restart or bad luck. */
export const FAILURES_BEFORE_OPEN = 3
/** How long it stays open the first time. Each further time without a success in between is twice as long. */
export const OPEN_MS_FIRST = 5_000
/**
 * The longest time that it stays open, also if a `Retry-After` asks for more. With a longer time, an upstream that has
 * recovered would be skipped while the others fail.
 */
export const OPEN_MS_MAX = 20_000

/** The failures of a provider that are kept for the operator. */
const FAILURES_KEPT_MAX = 20

/** An upstream that has failed and not succeeded since. */
export type CircuitState = {
  readonly provider: string
  /** As the provider calls it. */
  readonly model: string
  readonly state: 'closed' | 'open' | 'half_open'
  /** Consecutive ones. */
  readonly failures: number
  /** How long the breaker stays open. Undefined unless it is open. */
  readonly openMs: number | undefined
}

/** A call that says that its upstream is not healthy. */
export type RecentFailure = {
  readonly model: string
  readonly reason: UpstreamFailureReason | undefined
  readonly atMs: number
}

/** The health of an upstream, as a call showed it. */
export type HealthSignal =
  | { readonly signal: 'healthy' | 'none' }
  | { readonly signal: 'unhealthy'; readonly retryAfterMs: number | undefined }

/**
 * The circuit breakers of this node's upstreams. One that opened becomes half-open when its time is over: then one
 * request at a time probes the upstream, until a probe succeeds and closes it.
 *
 * It keeps a breaker only for upstreams that failed lately. It drops the breakers of upstreams that left the catalog,
 * and those whose provider was edited, because the edit may have fixed it.
 */
export class CircuitBreakers {
  readonly #breakers = new Map<string, Breaker>()
  /** By the id of the provider, oldest first. */
  readonly #failures = new Map<string, RecentFailure[]>()
  readonly #catalog: Pick<CatalogStore, 'current'>
  readonly #clock: Clock
  #prunedFor: Catalog | undefined

  constructor({
    catalog,
    clock,
  }: {
    readonly catalog: Pick<CatalogStore, 'current'>
    readonly clock: Clock
  }) {
    this.#catalog = catalog
    this.#clock = clock
  }

  /** The number of upstreams that failed and have not succeeded since. */
  get size(): number {
    return this.#breakers.size
  }

  /** The number of circuit breakers that are open now. */
  get open(): number {
    const nowMs = this.#clock.monotonicMs()
    return this.#breakers.values().reduce((count, breaker) => (isOpen(breaker, nowMs) ? count + 1 : count), 0)
  }

  /** The upstreams that failed often enough to open their circuit breakers, and have not succeeded since. */
  failing(): readonly FailingUpstream[] {
    this.#prune(this.#catalog.current())
    return [...this.#breakers.values()].flatMap(({ upstream, failingSinceMs: sinceMs }) =>
      sinceMs === undefined ? [] : [{ ...upstream, sinceMs }],
    )
  }

  /**
   * Undefined if the upstream may be called: its breaker is closed, or half-open without a probe. Otherwise the
   * monotonic instant at which the breaker becomes half-open, or became half-open while a probe runs.
   */
  openUntilMs(destination: Destination): number | undefined {
    const breaker = this.#find(destination)
    if (breaker?.openUntilMs === undefined) return undefined
    const mayProbe = !isOpen(breaker, this.#clock.monotonicMs()) && breaker.probes === 0
    return mayProbe ? undefined : breaker.openUntilMs
  }

  /** Begins a call. The caller must report exactly once how it ended. */
  begin(destination: Destination): (signal: HealthSignal, reason?: UpstreamFailureReason) => void {
    const breaker = this.#find(destination)
    const probed = breaker?.openUntilMs === undefined ? undefined : breaker
    if (probed !== undefined) probed.probes += 1
    return (signal, reason) => {
      if (probed !== undefined) probed.probes -= 1
      if (signal.signal === 'healthy') this.#succeed(destination, probed)
      else if (signal.signal === 'unhealthy') {
        this.#note(destination, reason)
        this.#fail(destination, signal.retryAfterMs)
      }
    }
  }

  /** The upstreams whose last calls failed, with the state of their circuit breakers. */
  states(): readonly CircuitState[] {
    this.#prune(this.#catalog.current())
    const nowMs = this.#clock.monotonicMs()
    return [...this.#breakers.values()].map(breaker => ({
      provider: breaker.upstream.provider,
      model: breaker.upstream.model,
      state: stateOf(breaker, nowMs),
      failures: breaker.failures,
      openMs: isOpen(breaker, nowMs) ? breaker.openUntilMs - nowMs : undefined,
    }))
  }

  /** The last failures of a provider of the catalog in this process, newest first. */
  recentFailures(provider: string): readonly RecentFailure[] {
    return this.#failures.get(provider)?.toReversed() ?? []
  }

  #note({ provider, upstream }: Destination, reason: UpstreamFailureReason | undefined): void {
    const failures = this.#failures.get(provider.id) ?? []
    this.#failures.set(provider.id, failures)
    failures.push({ model: upstream.model, reason, atMs: this.#clock.now() })
    if (failures.length > FAILURES_KEPT_MAX) failures.shift()
  }

  #succeed(destination: Destination, probed: Breaker | undefined): void {
    const breaker = this.#find(destination)
    // A call that began before the breaker opened says nothing about the upstream's health now.
    if (breaker === undefined || (breaker.openUntilMs !== undefined && breaker !== probed)) return
    this.#breakers.delete(keyOf(destination))
  }

  #fail(destination: Destination, retryAfterMs: number | undefined): void {
    const nowMs = this.#clock.monotonicMs()
    const breaker = this.#find(destination) ?? this.#add(destination)
    const retryAtMs = retryAfterMs === undefined ? nowMs : nowMs + Math.min(retryAfterMs, OPEN_MS_MAX)
    // A call that ran when the breaker opened, or one that was made because every breaker was open. It does not count
    // again.
    if (isOpen(breaker, nowMs)) {
      breaker.openUntilMs = Math.max(breaker.openUntilMs, retryAtMs)
      return
    }
    breaker.failures += 1
    const isFailing = breaker.failures >= FAILURES_BEFORE_OPEN
    // One rate limit opens the breaker, but is no sign of a broken upstream.
    if (isFailing) breaker.failingSinceMs ??= nowMs
    else if (retryAtMs <= nowMs) return
    const openMs = Math.min(OPEN_MS_FIRST * 2 ** breaker.timesOpened, OPEN_MS_MAX)
    breaker.openUntilMs = Math.max(nowMs + openMs, retryAtMs)
    breaker.timesOpened += 1
  }

  #find(destination: Destination): Breaker | undefined {
    if (this.#breakers.size === 0) return undefined
    const breaker = this.#breakers.get(keyOf(destination))
    return breaker?.provider === destination.provider ? breaker : undefined
  }

  #add(destination: Destination): Breaker {
    this.#prune(this.#catalog.current())
    const { provider, upstream } = destination
    const breaker = {
      provider,
      upstream: { provider: provider.id, model: upstream.model },
      failures: 0,
      timesOpened: 0,
      failingSinceMs: undefined,
      openUntilMs: undefined,
      probes: 0,
    }
    this.#breakers.set(keyOf(destination), breaker)
    return breaker
  }

  /** Runs at most once for each revision of the catalog. */
  #prune(catalog: Catalog): void {
    if (catalog === this.#prunedFor) return
    this.#prunedFor = catalog
    for (const id of this.#failures.keys()) if (!catalog.providers.has(id)) this.#failures.delete(id)
    const keys = new Set([...catalog.models.values()].flatMap(model => model.upstreams.map(upstreamKey)))
    for (const [key, { provider }] of this.#breakers) {
      if (!keys.has(key) || catalog.providers.get(provider.id) !== provider) this.#breakers.delete(key)
    }
  }
}

type Breaker = {
  /** The catalog row as it was. */
  readonly provider: Provider
  /** Consecutive failures. */
  failures: number
  readonly upstream: Omit<FailingUpstream, 'sinceMs'>
  /** Since the last success. */
  timesOpened: number
  /** When it failed often enough to open, since the last success. Undefined if it has not. */
  failingSinceMs: number | undefined
  /** A monotonic instant. Undefined while the breaker is closed. */
  openUntilMs: number | undefined
  /** The calls that run although the breaker is open or half-open. */
  probes: number
}

function isOpen(breaker: Breaker, nowMs: number): breaker is Breaker & { openUntilMs: number } {
  return breaker.openUntilMs !== undefined && breaker.openUntilMs > nowMs
}

function stateOf(breaker: Breaker, nowMs: number): CircuitState['state'] {
  if (breaker.openUntilMs === undefined) return 'closed'
  return isOpen(breaker, nowMs) ? 'open' : 'half_open'
}

function keyOf({ upstream }: Destination): string {
  return upstreamKey(upstream)
}

/** Rows that share an upstream share its circuit breaker. */
function upstreamKey({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} ${model}`
}

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
