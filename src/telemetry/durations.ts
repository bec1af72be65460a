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
