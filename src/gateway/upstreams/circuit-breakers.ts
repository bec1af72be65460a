import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import type { CatalogStore } from '../ports/catalog.ts'
import type { Clock } from '../ports/clock.ts'
import type { Destination } from '../text/resolve-model.ts'

/** So many failures in a row, and an upstream rests. One or two may be a restart, or bad luck. */
export const FAILURES_BEFORE_OPEN = 3
/** The first rest; each that follows it without an answer in between is twice as long. */
export const OPEN_MS_FIRST = 5_000
/** No rest is longer, whatever a `Retry-After` says: an upstream is never forgotten for good. */
export const OPEN_MS_MAX = 300_000

/** What an attempt showed of its upstream: that it works, that it does not, or nothing either way. */
export type Effect =
  | { readonly effect: 'works' | 'none' }
  | { readonly effect: 'fails'; readonly retryAfterMs: number | undefined }

/**
 * Which upstreams rest because they failed, known to this node alone. When a rest is over, one request at a time tries the
 * upstream, until one finds that it works.
 *
 * Keeps something only of upstreams that failed of late, so no more than the catalog has; forgets those that have left it, and
 * those whose provider was edited: the operator may just have mended it.
 */
export class CircuitBreakers {
  readonly #records = new Map<string, Rest>()
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

  /** How many upstreams have failed and not worked since. */
  get size(): number {
    return this.#records.size
  }

  /** How many upstreams rest now. */
  get open(): number {
    const nowMs = this.#clock.now()
    return this.#records.values().reduce((count, rest) => (rest.untilMs > nowMs ? count + 1 : count), 0)
  }

  /** Undefined for an upstream that may be asked now; else the instant its rest ends, or has ended while one request tries it. */
  openUntilMs(destination: Destination): number | undefined {
    const rest = this.#find(destination)
    if (rest === undefined || rest.untilMs === 0) return undefined
    return rest.untilMs <= this.#clock.now() && rest.trials === 0 ? undefined : rest.untilMs
  }

  /** An attempt begins. It must be told how it ended, exactly once, whatever happens. */
  begin(destination: Destination): (effect: Effect) => void {
    const rest = this.#find(destination)
    const trial = rest === undefined || rest.untilMs === 0 ? undefined : rest
    if (trial !== undefined) trial.trials += 1
    return effect => {
      if (trial !== undefined) trial.trials -= 1
      if (effect.effect === 'works') this.#works(destination, trial)
      else if (effect.effect === 'fails') this.#fails(destination, effect.retryAfterMs)
    }
  }

  #works(destination: Destination, trial: Rest | undefined): void {
    const rest = this.#find(destination)
    // What was sent before the upstream began to fail says nothing of it now.
    if (rest === undefined || (rest.untilMs > 0 && rest !== trial)) return
    this.#records.delete(keyOf(destination))
  }

  #fails(destination: Destination, retryAfterMs: number | undefined): void {
    const nowMs = this.#clock.now()
    const rest = this.#find(destination) ?? this.#add(destination)
    const askedUntilMs = retryAfterMs === undefined ? 0 : nowMs + Math.min(retryAfterMs, OPEN_MS_MAX)
    // One of many that were on their way when the rest began, or asked for want of another: no news, and no reason to double it.
    if (rest.untilMs > nowMs) {
      rest.untilMs = Math.max(rest.untilMs, askedUntilMs)
      return
    }
    rest.failures += 1
    if (rest.failures < FAILURES_BEFORE_OPEN && askedUntilMs <= nowMs) return
    const restMs = Math.min(OPEN_MS_FIRST * 2 ** rest.count, OPEN_MS_MAX)
    rest.untilMs = Math.max(nowMs + restMs, askedUntilMs)
    rest.count += 1
  }

  #find(destination: Destination): Rest | undefined {
    if (this.#records.size === 0) return undefined
    const rest = this.#records.get(keyOf(destination))
    return rest?.provider === destination.provider ? rest : undefined
  }

  #add(destination: Destination): Rest {
    this.#prune(this.#catalog.current())
    const rest = { provider: destination.provider, failures: 0, count: 0, untilMs: 0, trials: 0 }
    this.#records.set(keyOf(destination), rest)
    return rest
  }

  /** Once for each edit of the catalog after which something failed. */
  #prune(catalog: Catalog): void {
    if (catalog === this.#prunedFor) return
    this.#prunedFor = catalog
    const named = new Set([...catalog.models.values()].flatMap(model => model.upstreams.map(nameOf)))
    for (const [key, { provider }] of this.#records) {
      if (!named.has(key) || catalog.providers.get(provider.id) !== provider) this.#records.delete(key)
    }
  }
}

type Rest = {
  /** The row as it was. */
  readonly provider: Provider
  /** In a row. */
  failures: number
  /** CircuitBreakers so far, without an answer in between. */
  count: number
  /** 0 before the first. */
  untilMs: number
  /** How many requests try it in spite of its rest, or after it. */
  trials: number
}

function keyOf({ upstream }: Destination): string {
  return nameOf(upstream)
}

/** Rows that share an upstream share what is known of it. */
function nameOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} ${model}`
}
