import { Counter, type Registry } from 'prom-client'
import type { NanoUsd } from '../domain/money.ts'
import {
  bucketNames,
  NO_USAGE,
  usageBuckets,
  type Provenance,
  type Usage,
  type UsageBucket,
} from '../domain/pricing/usage.ts'
import type { UpstreamFailure } from '../gateway/upstreams/report-attempts.ts'
import { dollars } from './dollars.ts'
import type { MarginMetrics } from './margin-metrics.ts'

/** The facts that the metrics need about a finished request. */
export type RequestMeasure = {
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly record: {
    /** The name of a catalog row, never a name that a client made up: that would add series without a limit. */
    readonly model?: string
    readonly usage?: Usage
    readonly provenance?: Provenance
    readonly isClamped?: boolean
    readonly cost?: NanoUsd
    /** Null if it is not known. */
    readonly providerCost?: NanoUsd | null
    /** The job that a media request made or got again. Its cost is counted when the job ends. */
    readonly jobId?: string
    readonly shortfall?: NanoUsd
    readonly isCostUnreported?: boolean
    readonly isRefusalBilled?: boolean
    readonly provider?: string
    readonly isReplay?: boolean
    readonly moderation?: string
    readonly upstreamProblem?: string
    readonly upstreamFailures?: readonly UpstreamFailure[]
  }
}

type RequestMetrics = {
  readonly count: (measure: RequestMeasure) => void
  /** The metrics that are not in the registry, in the Prometheus text format. */
  readonly text: () => string
}

const OK = 200

/** The metrics of requests. An ordinary request costs a few additions; labels are built when the metrics are read. */
export function openRequestMetrics(
  registry: Registry,
  jobs: { readonly costs: () => Iterable<readonly [model: string, cost: bigint]> },
  margins: Pick<MarginMetrics, 'charged'>,
): RequestMetrics {
  const tallies = new Tallies()
  const durations = new Durations()
  registerTallies(tallies, registry)
  registerCosts(tallies, jobs, registry)
  const exceptions = openExceptions(registry)
  return {
    count(measure) {
      const { route, status, durationMs, record } = measure
      const { model = '', provider = '', usage, cost, providerCost = null } = record
      const tally = tallies.of(route, status, model)
      tally.requests += 1
      durations.observe(route, durationMs / 1000)
      if (usage !== undefined) for (const bucket of usageBuckets) tally.tokens[bucket] += usage[bucket]
      // A job is charged once, however many requests wait for it.
      if (cost !== undefined && record.jobId === undefined) {
        tally.cost = (tally.cost ?? 0n) + cost
        margins.charged({ model, provider, cost, providerCost })
      }
      exceptions.count(measure)
    },
    text: () => durations.text('tollgate_request_duration_seconds', 'Time from a request to its reply.'),
  }
}

function registerTallies(tallies: Tallies, registry: Registry): void {
  const registers = [registry]
  const requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'Requests answered, by route, HTTP status and model.',
    labelNames: ['route', 'status', 'model'],
    registers,
    collect() {
      this.reset()
      for (const { route, status, model, requests } of tallies.all())
        this.inc({ route, status, model }, requests)
    },
  })
  const tokens = new Counter({
    name: 'tollgate_tokens_total',
    help: 'Tokens charged, by model and tariff bucket.',
    labelNames: ['model', 'bucket'],
    registers,
    collect() {
      this.reset()
      for (const { model, tokens } of tallies.all())
        for (const bucket of usageBuckets)
          if (tokens[bucket] > 0) this.inc({ model, bucket: bucketNames[bucket] }, tokens[bucket])
    },
  })
  void [requests, tokens]
}

function registerCosts(
  tallies: Tallies,
  jobs: { readonly costs: () => Iterable<readonly [model: string, cost: bigint]> },
  registry: Registry,
): void {
  const counter = new Counter({
    name: 'tollgate_cost_usd_total',
    help: 'Dollars charged, by model and kind of work.',
    labelNames: ['model', 'kind'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { model, cost } of tallies.all())
        if (cost !== undefined) this.inc({ model, kind: 'text' }, dollars(cost))
      for (const [model, cost] of jobs.costs()) this.inc({ model, kind: 'media' }, dollars(cost))
    },
  })
  void counter
}

/** Counts one kind of exception in a finished request. */
type Count = (measure: RequestMeasure) => void

/** Counters for exceptions, which most requests do not have. */
function openExceptions(registry: Registry): { readonly count: Count } {
  const registers = [registry]
  const counts = [
    openOverdrafts(registers),
    openUncertainCharges(registers),
    openUpstreamFailures(registers),
    openReplays(registers),
    openModerations(registers),
  ]
  return {
    count: measure => {
      for (const count of counts) count(measure)
    },
  }
}

function openOverdrafts(registers: Registry[]): Count {
  const overdrafts = new Counter({
    name: 'tollgate_overdrafts_total',
    help: 'Text charges that exceeded their hold.',
    registers,
  })
  const overdraftUsd = new Counter({
    name: 'tollgate_overdraft_usd_total',
    help: 'Dollars by which text charges exceeded their holds.',
    registers,
  })
  return ({ record: { shortfall } }) => {
    if (shortfall === undefined || shortfall <= 0n) return
    overdrafts.inc()
    overdraftUsd.inc(dollars(shortfall))
  }
}

function openUncertainCharges(registers: Registry[]): Count {
  const unreported = new Counter({
    name: 'tollgate_unreported_costs_total',
    help: 'Answers charged 0 because the upstream did not report its cost, as its pricing requires.',
    labelNames: ['model'],
    registers,
  })
  const estimated = new Counter({
    name: 'tollgate_estimated_charges_total',
    help: 'Charges of an estimate, because the upstream reported no usage.',
    labelNames: ['model'],
    registers,
  })
  const clamped = new Counter({
    name: 'tollgate_clamped_charges_total',
    help: 'Charges for which an impossible reported usage was clamped.',
    labelNames: ['model'],
    registers,
  })
  const billedRefusals = new Counter({
    name: 'tollgate_billed_refusals_total',
    help: 'Requests that the upstream refused and bills all the same, as its row says.',
    labelNames: ['provider'],
    registers,
  })
  return ({ record }) => {
    const { model = '', provider = '', isCostUnreported, isRefusalBilled, provenance, isClamped } = record
    if (isRefusalBilled === true) billedRefusals.inc({ provider })
    if (isCostUnreported === true) unreported.inc({ model })
    if (provenance === 'estimated') estimated.inc({ model })
    if (isClamped === true) clamped.inc({ model })
  }
}

function openUpstreamFailures(registers: Registry[]): Count {
  const brokenStreams = new Counter({
    name: 'tollgate_broken_streams_total',
    help: 'Streams that broke or became silent after status 200.',
    labelNames: ['route', 'model'],
    registers,
  })
  const failures = new Counter({
    name: 'tollgate_upstream_failures_total',
    help: 'Upstream failures by provider and reason, including those followed by a successful failover.',
    labelNames: ['provider', 'reason'],
    registers,
  })
  return ({ route, status, record: { model = '', upstreamProblem, upstreamFailures = [] } }) => {
    for (const { provider, reason } of upstreamFailures) failures.inc({ provider, reason })
    if (status === OK && upstreamProblem !== undefined) brokenStreams.inc({ route, model })
  }
}

function openReplays(registers: Registry[]): Count {
  const replays = new Counter({
    name: 'tollgate_replays_total',
    help: 'Requests answered free of charge with the answer to an identical request.',
    labelNames: ['route'],
    registers,
  })
  return ({ route, record: { isReplay } }) => {
    if (isReplay === true) replays.inc({ route })
  }
}

function openModerations(registers: Registry[]): Count {
  const moderations = new Counter({
    name: 'tollgate_moderations_total',
    help: 'Requests sent to the moderator, by verdict. Requests without a verdict were served.',
    labelNames: ['verdict'],
    registers,
  })
  return ({ record: { moderation } }) => {
    if (moderation !== undefined) moderations.inc({ verdict: moderation })
  }
}

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
class Tallies {
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
