import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { HoldKind } from '../domain/ledger/books.ts'
import type { NanoUsd } from '../domain/money.ts'
import { NO_USAGE, usageBuckets, type Usage, type UsageBucket } from '../domain/pricing/usage.ts'
import type { ReconcilerPass } from '../gateway/ports/reconcile.ts'

/** What a finished request adds. */
export type RequestMeasure = {
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly trace: {
    /** A catalog row's name or undefined; never what a client made up, which would grow the series without bound. */
    readonly model?: string
    readonly usage?: Usage
    readonly cost?: NanoUsd
    readonly shortfall?: NanoUsd
    readonly isCostUnreported?: boolean
    readonly isReplay?: boolean
    readonly moderation?: string
    readonly upstreamProblem?: string
  }
}

/** Read when the metrics are. */
export type Gauges = {
  readonly held: (kind: HoldKind) => NanoUsd
  readonly waiting: () => number
  readonly lateCalls: () => number
  readonly restingUpstreams: () => number
  readonly replayBytes: () => number
}

/** The result of one check of the books. */
export type LedgerCheck = { readonly problems: number; readonly entries: number; readonly atMs: number }

export type Metrics = {
  readonly countRequest: (measure: RequestMeasure) => void
  readonly countLedgerCheck: (check: LedgerCheck) => void
  readonly countReconcilerPass: (pass: ReconcilerPass) => void
  /** The Prometheus text format. */
  readonly render: () => Promise<string>
  readonly contentType: string
}

const DURATION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const NANO_PER_USD = 1e9
const OK = 200

/** As the catalog calls them. */
const bucketNames = {
  input: 'input',
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  audioInput: 'audio_input',
  output: 'output',
  reasoning: 'reasoning',
  audioOutput: 'audio_output',
} as const satisfies Record<UsageBucket, string>

/** Amounts become floats here and nowhere else: a metric is looked at, never settled from. */
function dollars(amount: bigint): number {
  return Number(amount) / NANO_PER_USD
}

export function openMetrics(gauges: Gauges): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const tallies = new Tallies()
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
  const durations = new Histogram({
    name: 'tollgate_request_duration_seconds',
    help: 'From the request to its reply.',
    labelNames: ['route'],
    buckets: DURATION_BUCKETS_S,
    registers,
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
  const cost = new Counter({
    name: 'tollgate_cost_usd_total',
    help: 'Dollars charged, by model and kind of work.',
    labelNames: ['model', 'kind'],
    registers,
    collect() {
      this.reset()
      for (const { model, cost } of tallies.all())
        if (cost !== undefined) this.inc({ model, kind: 'text' }, dollars(cost))
    },
  })
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
  const unreported = new Counter({
    name: 'tollgate_unreported_costs_total',
    help: 'Answers charged 0 because the upstream did not report the cost it was to report.',
    labelNames: ['model'],
    registers,
  })
  const brokenStreams = new Counter({
    name: 'tollgate_broken_streams_total',
    help: 'Streams that their upstream broke off or left silent. They had begun, so that their status is 200.',
    labelNames: ['route', 'model'],
    registers,
  })
  const replays = new Counter({
    name: 'tollgate_replays_total',
    help: 'Requests answered, for nothing, with what an identical one got.',
    labelNames: ['route'],
    registers,
  })
  const moderations = new Counter({
    name: 'tollgate_moderations_total',
    help: 'Requests that the moderator was asked about, by verdict; those it said nothing of went on.',
    labelNames: ['verdict'],
    registers,
  })
  const held = new Gauge({
    name: 'tollgate_held_usd',
    help: 'Dollars in open holds, by kind of work.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.set({ kind: 'text' }, dollars(gauges.held('text')))
      this.set({ kind: 'media' }, dollars(gauges.held('media')))
    },
  })
  const waiting = new Gauge({
    name: 'tollgate_hold_waiters',
    help: 'Requests that wait for money held by others.',
    registers,
    collect() {
      this.set(gauges.waiting())
    },
  })
  const replayBytes = new Gauge({
    name: 'tollgate_replay_bytes',
    help: 'Memory of answers kept for replays and of copies of running streams.',
    registers,
    collect() {
      this.set(gauges.replayBytes())
    },
  })
  const lateCalls = new Gauge({
    name: 'tollgate_late_calls',
    help: 'Upstream calls that go on although their client got a 504.',
    registers,
    collect() {
      this.set(gauges.lateCalls())
    },
  })
  const restingUpstreams = new Gauge({
    name: 'tollgate_resting_upstreams',
    help: 'Upstreams that failed again and again, and are left alone for a while.',
    registers,
    collect() {
      this.set(gauges.restingUpstreams())
    },
  })
  const ledgerProblems = new Gauge({
    name: 'tollgate_ledger_problems',
    help: 'Broken invariants found by the last check of the books; 0 is sound.',
    registers,
  })
  const ledgerChecks = new Counter({
    name: 'tollgate_ledger_checks_total',
    help: 'Checks of the books, by result.',
    labelNames: ['result'],
    registers,
  })
  const reconciled = new Counter({
    name: 'tollgate_reconciled_total',
    help: 'What the reconciler did: late answers compensated, attempts closed, and what failed.',
    labelNames: ['outcome'],
    registers,
  })
  const compensatedUsd = new Counter({
    name: 'tollgate_compensated_usd_total',
    help: 'Dollars charged for late answers and given back: what they cost the operator, at selling prices.',
    registers,
  })
  const ledgerCheckedAt = new Gauge({
    name: 'tollgate_ledger_checked_timestamp_seconds',
    help: 'When the books were last checked.',
    registers,
  })
  void [requests, tokens, cost, held, waiting, lateCalls, restingUpstreams, replayBytes]

  return {
    countRequest: ({ route, status, durationMs, trace }) => {
      const { model = '', usage, cost, shortfall, isCostUnreported, isReplay, moderation } = trace
      const tally = tallies.of(route, status, model)
      tally.requests += 1
      durations.observe({ route }, durationMs / 1000)
      if (usage !== undefined) {
        for (const bucket of usageBuckets) tally.tokens[bucket] += usage[bucket]
      }
      if (cost !== undefined) tally.cost = (tally.cost ?? 0n) + cost
      if (shortfall !== undefined && shortfall > 0n) {
        overdrafts.inc()
        overdraftUsd.inc(dollars(shortfall))
      }
      if (isCostUnreported === true) unreported.inc({ model })
      if (moderation !== undefined) moderations.inc({ verdict: moderation })
      if (isReplay === true) replays.inc({ route })
      if (status === OK && trace.upstreamProblem !== undefined) brokenStreams.inc({ route, model })
    },
    countLedgerCheck: check => {
      ledgerProblems.set(check.problems)
      ledgerChecks.inc({ result: check.problems === 0 ? 'sound' : 'broken' })
      ledgerCheckedAt.set(check.atMs / 1000)
    },
    countReconcilerPass: pass => {
      for (const outcome of ['compensated', 'closed', 'failed'] as const)
        reconciled.inc({ outcome }, pass[outcome])
      compensatedUsd.inc(dollars(pass.compensatedUsd))
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/** What the requests of one route, status and model came to. */
type Tally = {
  readonly route: string
  readonly status: number
  readonly model: string
  requests: number
  readonly tokens: Record<UsageBucket, number>
  /** Undefined until one was charged. */
  cost: bigint | undefined
}

/**
 * Counts in plain numbers, handed to prom-client when the metrics are read: it would put the labels of every single increment
 * together to a text, which costs more than all the counting.
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
