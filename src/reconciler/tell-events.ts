import { EXPIRY_LEAD_MS } from '../domain/webhooks/life-events.ts'
import { watchAfter, type FailingUpstream, type ProviderWatch } from '../domain/webhooks/provider-alert.ts'
import type { Alerts } from '../gateway/ports/events/alerts.ts'
import type { Clock } from '../gateway/ports/clock.ts'
import { repeatRegularly } from './repeat-regularly.ts'

/** Providers are told after a minute, and keys days before they expire. */
const LOOK_EVERY_MS = 15_000
/** More in one step would delay the steps of requests. */
const KEYS_MAX = 200

type TellPorts = {
  readonly alerts: Alerts
  /** The upstreams of this node whose circuit breakers opened and have not closed since. */
  readonly failingUpstreams: () => readonly FailingUpstream[]
  readonly clock: Clock
  readonly onFailed: (error: unknown) => void
}

/**
 * Tells regularly of keys that expire soon, and of providers that fail or have recovered. Returns a function that stops
 * it.
 */
export function startTelling(ports: TellPorts): () => void {
  const watcher = new ProviderWatcher(ports)
  const look = () => Promise.all([tellExpiringKeys(ports), watcher.look()])
  return repeatRegularly(look, ports, LOOK_EVERY_MS)
}

/** Safe to run on every node at once: each expiry of a key is told once. The next call tells of the rest. */
async function tellExpiringKeys({ alerts, clock }: Pick<TellPorts, 'alerts' | 'clock'>): Promise<void> {
  const nowMs = clock.now()
  await alerts.tellExpiringKeys({ nowMs, untilMs: nowMs + EXPIRY_LEAD_MS, limit: KEYS_MAX })
}

/** Watches the circuit breakers of a node. What it told is in the store, so a restart does not forget a recovery. */
export class ProviderWatcher {
  readonly #ports: Omit<TellPorts, 'onFailed'>
  #watches: Map<string, ProviderWatch> | undefined
  #looking: Promise<void> | undefined

  constructor(ports: Omit<TellPorts, 'onFailed'>) {
    this.#ports = ports
  }

  /** Looks at the upstreams, and tells what has changed for longer than a moment. Joins a look that is running. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #look(): Promise<void> {
    const { alerts, failingUpstreams, clock } = this.#ports
    this.#watches ??= new Map((await alerts.toldProviders()).map(told => [told.provider, { told }]))
    const now = { nowMs: clock.now(), monotonicMs: clock.monotonicMs() }
    const failing = Map.groupBy(failingUpstreams(), ({ provider }) => provider)
    for (const provider of new Set([...this.#watches.keys(), ...failing.keys()])) {
      const seen = { provider, failing: failing.get(provider) ?? [] }
      const { watch, news } = watchAfter(this.#watches.get(provider) ?? {}, seen, now)
      // Kept after it is told: if that fails, the next look tries again.
      if (news !== undefined) await alerts.tellProvider(news)
      if (watch.told === undefined) this.#watches.delete(provider)
      else this.#watches.set(provider, watch)
    }
  }
}
