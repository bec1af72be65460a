import { NO_USAGE, type UsageBucket } from '../domain/pricing/usage.ts'

/** The sums for the requests of one route, status and model. */
export type Tally = {
  readonly route: string
  readonly status: number
  readonly model: string
  requests: number
  readonly tokens: Record<UsageBucket, number>
  /** Undefined until a request was charged. */
  cost: bigint | undefined
}

/**
 * Counts in plain numbers, and passes them to prom-client when the metrics are read. prom-client builds a text from the
 * labels of each increment, which would cost more than the rest of the counting.
 */
export class Tallies {
  readonly #byRoute = new Map<string, Map<string, Map<number, Tally>>>()
  readonly #all: Tally[] = []

  of(route: string, status: number, model: string): Tally {
    return this.#byRoute.get(route)?.get(model)?.get(status) ?? this.#add(route, status, model)
  }

  all(): readonly Tally[] {
    return this.#all
  }

  #add(route: string, status: number, model: string): Tally {
    const tally: Tally = { route, status, model, requests: 0, tokens: { ...NO_USAGE }, cost: undefined }
    const byModel = entry(this.#byRoute, route, () => new Map<string, Map<number, Tally>>())
    entry(byModel, model, () => new Map<number, Tally>()).set(status, tally)
    this.#all.push(tally)
    return tally
  }
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
