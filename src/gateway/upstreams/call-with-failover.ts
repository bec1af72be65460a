import type { Upstream } from '../../domain/catalog/model.ts'
import { mayRetry } from '../../domain/catalog/provider.ts'
import { pause, type Clock } from '../ports/clock.ts'
import {
  healthSignal,
  retryAfterMs,
  selectResult,
  shouldFailOver,
  wasGivenUp,
  type AttemptRecord,
  type CallResult,
} from './attempt-result.ts'
import type { Destination } from './destinations.ts'
import { reportAttempts, type UpstreamsRecord } from './report-attempts.ts'
import type { CircuitBreakers, RetryBudgets } from './upstream-health.ts'

/** Calls one upstream. Until it resolves, nothing may have gone to the client. */
export type CallUpstream<Result extends CallResult> = (
  destination: Destination,
  /**
   * Whether a stream may be given up when its first byte does not come in time. This is true only if another upstream
   * is left, and only once per request, so that a slow model is not given up everywhere.
   */
  mayGiveUp: boolean,
) => Promise<Result>

export type FailoverPorts = {
  readonly clock: Clock
  readonly circuitBreakers: CircuitBreakers
  readonly retryBudgets: RetryBudgets
  /** At least 0 and below 1. Distributes the requests by weight. */
  readonly random: () => number
}

/** The upstreams of a request, and where their calls are reported. */
type FailoverRequest = { readonly destinations: readonly Destination[]; readonly record: UpstreamsRecord }

/** The calls of a request: the one whose result the client gets, and the others. */
export type FailoverResult<Result> = {
  readonly selected: AttemptRecord<Result>
  readonly others: readonly AttemptRecord<Result>[]
}

/**
 * Calls the upstreams of a request one after the other until one answers. Each is called at most once. Those with an
 * open circuit breaker come last, because they may have recovered and are better than no answer. If a second try of the
 * last one may succeed, it is called once more. After `failOverWithinMs`, no further call is made.
 */
export async function callWithFailover<Result extends CallResult>(
  request: FailoverRequest,
  call: CallUpstream<Result>,
  ports: FailoverPorts,
  { failOverWithinMs }: { readonly failOverWithinMs: number },
): Promise<FailoverResult<Result>> {
  const failOverUntilMs = ports.clock.monotonicMs() + failOverWithinMs
  const attempts = await callInTurn(request, call, ports, failOverUntilMs)
  const last = attempts.at(-1) as AttemptRecord<Result>
  if (last.result.kind === 'failure' && attempts.length === request.destinations.length) {
    // A single upstream is called also if its circuit breaker is open. The breaker shows operators that it fails.
    const hasChoice = request.destinations.length > 1
    const retried = await retry(last, call, ports, { hasChoice, failOverUntilMs })
    if (retried !== undefined) attempts.push(retried)
  }
  const isOnly = attempts.length === 1
  const selected = isOnly ? last : selectResult(attempts, ports.clock.now())
  reportAttempts(request.record, attempts, selected)
  return { selected, others: isOnly ? NO_OTHERS : attempts.filter(attempt => attempt !== selected) }
}

const NO_OTHERS: readonly never[] = []

async function callInTurn<Result extends CallResult>(
  { destinations, record }: FailoverRequest,
  call: CallUpstream<Result>,
  ports: FailoverPorts,
  failOverUntilMs: number,
): Promise<AttemptRecord<Result>[]> {
  const { clock, retryBudgets } = ports
  const attempts: AttemptRecord<Result>[] = []
  let left = destinations
  let mayGiveUp = true
  for (;;) {
    const destination = nextUpstream(left, ports)
    record.provider = destination.provider.id
    left = left.filter(other => other !== destination)
    retryBudgets.countRequest(destination.upstream)
    const next = { destination, mayGiveUp: mayGiveUp && left.length > 0 }
    const result = await callThroughBreaker(next, call, ports)
    attempts.push({ destination, number: attempts.length + 1, result })
    if (wasGivenUp(result)) mayGiveUp = false
    if (left.length === 0 || !shouldFailOver(result) || clock.monotonicMs() >= failOverUntilMs)
      return attempts
  }
}

/** One whose circuit breaker is closed, if there is one. */
function nextUpstream(
  left: readonly Destination[],
  { circuitBreakers, random }: Pick<FailoverPorts, 'circuitBreakers' | 'random'>,
): Destination {
  const [only] = left
  if (only !== undefined && left.length === 1) return only
  const available = left.filter(destination => circuitBreakers.openUntilMs(destination) === undefined)
  return chooseUpstream(available, random) ?? firstToClose(left, circuitBreakers)
}

/** Calls an upstream that failed once more, after a pause. Undefined if it may not be called again. */
async function retry<Result extends CallResult>(
  { destination, number, result }: AttemptRecord<Result>,
  call: CallUpstream<Result>,
  ports: FailoverPorts,
  { hasChoice, failOverUntilMs }: { readonly hasChoice: boolean; readonly failOverUntilMs: number },
): Promise<AttemptRecord<Result> | undefined> {
  const { circuitBreakers, clock, random, retryBudgets } = ports
  const delayMs = retryDelayMs(result, clock.now(), random)
  const isOpen = () => hasChoice && circuitBreakers.openUntilMs(destination) !== undefined
  if (delayMs === undefined || !mayRetry(destination.provider) || isOpen()) return undefined
  if (clock.monotonicMs() + delayMs >= failOverUntilMs) return undefined
  if (!retryBudgets.takeRetry(destination.upstream)) return undefined
  await pause(clock, delayMs)
  // Other requests may have failed during the pause.
  if (isOpen()) return undefined
  return {
    destination,
    number: number + 1,
    result: await callThroughBreaker({ destination, mayGiveUp: false }, call, ports),
  }
}

/** Calls an upstream, and reports to its circuit breaker how the call went. */
async function callThroughBreaker<Result extends CallResult>(
  { destination, mayGiveUp }: { readonly destination: Destination; readonly mayGiveUp: boolean },
  call: CallUpstream<Result>,
  { circuitBreakers, clock }: FailoverPorts,
): Promise<Result> {
  const end = circuitBreakers.begin(destination)
  try {
    const result = await call(destination, mayGiveUp)
    end(
      healthSignal(result, () => clock.now()),
      result.kind === 'failure' ? result.reason : undefined,
    )
    return result
  } catch (error) {
    end({ signal: 'none' })
    throw error
  }
}

/** The upstream that can be probed first, if all circuit breakers are open. */
function firstToClose(open: readonly Destination[], circuitBreakers: CircuitBreakers): Destination {
  const untilMs = (destination: Destination) => circuitBreakers.openUntilMs(destination) ?? 0
  return open.reduce((first, next) => (untilMs(next) < untilMs(first) ? next : first))
}

/**
 * Chooses one of the upstreams with the lowest order, at random by weight. `random` is at least 0 and below 1.
 * Undefined if there are no upstreams.
 */
export function chooseUpstream<Choice extends { readonly upstream: Pick<Upstream, 'order' | 'weight'> }>(
  destinations: readonly Choice[],
  random: () => number,
): Choice | undefined {
  const order = Math.min(...destinations.map(({ upstream }) => upstream.order))
  const group = destinations.filter(({ upstream }) => upstream.order === order)
  if (group.length < 2) return group[0]
  let left = random() * group.reduce((sum, { upstream }) => sum + upstream.weight, 0)
  for (const destination of group) {
    left -= destination.upstream.weight
    if (left < 0) return destination
  }
  // Reached only because of rounding.
  return group.at(-1)
}

/** The wait before a retry is between these two, so that the retries of many requests do not come at once. */
export const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 500
/** A client retries by itself if it has to wait longer. */
const RETRY_AFTER_MS_MAX = 2_000

/** With these statuses, the upstream itself reports that it has no answer. After other failures it may still bill. */
const RETRIED_STATUSES: ReadonlySet<number | undefined> = new Set([500, 502, 503])

/**
 * How long to wait before the same upstream is called again; undefined if a retry cannot help, or could be billed
 * twice. A longer wait that the upstream asks for is kept, and one of more than two seconds prevents the retry.
 * `random` is at least 0 and below 1. `nowMs` is wall time.
 */
export function retryDelayMs(result: CallResult, nowMs: number, random: () => number): number | undefined {
  if (result.kind !== 'failure') return undefined
  const { reason, status, retryAfter } = result
  const askedMs = retryAfterMs(retryAfter, nowMs)
  const isBrief = reason === 'rate_limited' && askedMs !== undefined
  if (!isBrief && !RETRIED_STATUSES.has(status)) return undefined
  if (askedMs !== undefined && askedMs > RETRY_AFTER_MS_MAX) return undefined
  return Math.max(askedMs ?? 0, RETRY_MS_MIN + random() * (RETRY_MS_MAX - RETRY_MS_MIN))
}
