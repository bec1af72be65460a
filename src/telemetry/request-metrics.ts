import { Counter, type Registry } from 'prom-client'
import type { NanoUsd } from '../domain/money.ts'
import { usageBuckets, type Provenance, type Usage, type UsageBucket } from '../domain/pricing/usage.ts'
import type { UpstreamFailure } from '../gateway/text/text-call.ts'
import { dollars } from './dollars.ts'
import { Durations } from './durations.ts'
import { Tallies } from './tallies.ts'

/** What a finished request adds. */
export type RequestMeasure = {
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly trace: {
    /** A catalog row's name or undefined; never what a client made up, which would grow the series without bound. */
    readonly model?: string
    readonly usage?: Usage
    readonly provenance?: Provenance
    readonly isClamped?: boolean
    readonly cost?: NanoUsd
    readonly shortfall?: NanoUsd
    readonly isCostUnreported?: boolean
    readonly isReplay?: boolean
    readonly moderation?: string
    readonly upstreamProblem?: string
    readonly upstreamFailures?: readonly UpstreamFailure[]
  }
}

export type RequestMetrics = {
  readonly count: (measure: RequestMeasure) => void
  /** What is not in the registry, in the Prometheus text format. */
  readonly text: () => string
}

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

/** What requests came to. Those that ended well cost a few additions; labels are put together when somebody reads. */
export function openRequestMetrics(registry: Registry): RequestMetrics {
  const tallies = new Tallies()
  const durations = new Durations()
  registerTallies(tallies, registry)
  const exceptions = openExceptions(registry)
  return {
    count(measure) {
      const { route, status, durationMs, trace } = measure
      const { model = '', usage, cost } = trace
      const tally = tallies.of(route, status, model)
      tally.requests += 1
      durations.observe(route, durationMs / 1000)
      if (usage !== undefined) for (const bucket of usageBuckets) tally.tokens[bucket] += usage[bucket]
      if (cost !== undefined) tally.cost = (tally.cost ?? 0n) + cost
      exceptions.count(measure)
    },
    text: () => durations.text('tollgate_request_duration_seconds', 'From the request to its reply.'),
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
  void [requests, tokens, cost]
}

/** What most requests have nothing of. */
function openExceptions(registry: Registry) {
  const registers = [registry]
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
  const estimated = new Counter({
    name: 'tollgate_estimated_charges_total',
    help: 'Charges by an estimate, because the upstream reported no usage.',
    labelNames: ['model'],
    registers,
  })
  const clamped = new Counter({
    name: 'tollgate_clamped_charges_total',
    help: 'Charges less what was impossible of the usage that the upstream reported.',
    labelNames: ['model'],
    registers,
  })
  const brokenStreams = new Counter({
    name: 'tollgate_broken_streams_total',
    help: 'Streams that their upstream broke off or left silent. They had begun, so that their status is 200.',
    labelNames: ['route', 'model'],
    registers,
  })
  const failures = new Counter({
    name: 'tollgate_upstream_failures_total',
    help: 'Failures of upstreams, by provider and reason, also of those after which another one served.',
    labelNames: ['provider', 'reason'],
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
  return {
    count({ route, status, trace }: RequestMeasure): void {
      const { model = '', shortfall, isCostUnreported, isReplay, moderation } = trace
      if (trace.provenance === 'estimated') estimated.inc({ model })
      if (trace.isClamped === true) clamped.inc({ model })
      if (shortfall !== undefined && shortfall > 0n) {
        overdrafts.inc()
        overdraftUsd.inc(dollars(shortfall))
      }
      if (isCostUnreported === true) unreported.inc({ model })
      if (moderation !== undefined) moderations.inc({ verdict: moderation })
      if (isReplay === true) replays.inc({ route })
      for (const { provider, reason } of trace.upstreamFailures ?? []) failures.inc({ provider, reason })
      if (status === OK && trace.upstreamProblem !== undefined) brokenStreams.inc({ route, model })
    },
  }
}
