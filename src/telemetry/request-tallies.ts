import { NO_USAGE, type UsageBucket } from '../domain/pricing/usage.ts'

/** The sums for the requests of one route, status and model. */
type Tally = {
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

const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/**
 * The durations of requests by route: a Prometheus histogram that counts in plain numbers and becomes text when it is
 * read.
 */
export class Durations {
  readonly #byRoute = new Map<string, { readonly counts: Float64Array; sumS: number }>()

  observe(route: string, seconds: number): void {
    let durations = this.#byRoute.get(route)
    if (durations === undefined)
      this.#byRoute.set(route, (durations = { counts: new Float64Array(BUCKETS_S.length + 1), sumS: 0 }))
    let bucket = 0
    while (seconds > (BUCKETS_S[bucket] ?? Infinity)) bucket += 1
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1
    durations.sumS += seconds
  }

  /** The Prometheus text format, with a final newline. */
  text(name: string, help: string): string {
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
    for (const [route, { counts, sumS }] of this.#byRoute) {
      let count = 0
      for (const [index, inBucket] of counts.entries()) {
        count += inBucket
        lines.push(`${name}_bucket{le="${BUCKETS_S[index] ?? '+Inf'}",route="${route}"} ${count}`)
      }
      lines.push(`${name}_sum{route="${route}"} ${sumS}`, `${name}_count{route="${route}"} ${count}`)
    }
    return `${lines.join('\n')}\n`
  }
}
