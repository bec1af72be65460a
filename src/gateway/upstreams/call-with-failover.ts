import type { AdmittedRequest } from '../text/admit-text.ts'
import type { Destination } from '../text/resolve-model.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { chooseUpstream } from './choose-upstream.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import { recordAbandonedAttempt, type AbandonPorts } from './record-abandoned-attempt.ts'
import { reportAttempts } from './report-attempts.ts'
import { healthSignal, selectResult, shouldFailOver, wasGivenUp, type CallResult } from './select-result.ts'

/** Calls one upstream. Until it resolves, nothing may have gone to the client. */
export type CallUpstream<Result extends CallResult> = (
  destination: Destination,
  /**
   * Whether a stream may be given up when its first byte does not come in time: only where another upstream is left,
   * and once a request, so that a slow model is not given up everywhere.
   */
  mayGiveUp: boolean,
) => Promise<Result>

export type FailoverPorts = AbandonPorts & {
  readonly circuitBreakers: CircuitBreakers
  /** At least 0 and below 1. Distributes the requests by weight. */
  readonly random: () => number
}

/**
 * Calls the upstreams of a request one after the other until one answers, and returns the attempt whose result the
 * client gets. Each is called at most once. Those with an open circuit breaker come last, because they may have
 * recovered and are better than no answer. After `failOverWithinMs`, no further upstream is called.
 */
export async function callWithFailover<Result extends CallResult>(
  admitted: AdmittedRequest,
  call: CallUpstream<Result>,
  ports: FailoverPorts,
  { failOverWithinMs }: { readonly failOverWithinMs: number },
): Promise<AttemptRecord<Result>> {
  const { trace } = admitted.call
  const [first] = admitted.destinations
  if (first !== undefined && admitted.destinations.length === 1) {
    // There is nothing to fail over to, so it needs no circuit breaker.
    trace.provider = first.provider.id
    const only = { destination: first, number: 1, result: await call(first, false) }
    reportAttempts(trace, [only], only)
    return only
  }
  const attempts = await callInTurn(admitted, call, ports, failOverWithinMs)
  const selected = selectResult(attempts, ports.clock.now())
  for (const attempt of attempts) if (attempt !== selected) recordAbandonedAttempt(admitted, attempt, ports)
  if (wasGivenUp(selected.result)) recordAbandonedAttempt(admitted, selected, ports)
  reportAttempts(trace, attempts, selected)
  return selected
}

async function callInTurn<Result extends CallResult>(
  { destinations, call: { trace } }: AdmittedRequest,
  call: CallUpstream<Result>,
  ports: FailoverPorts,
  failOverWithinMs: number,
): Promise<AttemptRecord<Result>[]> {
  const { circuitBreakers, clock, random } = ports
  const failOverUntilMs = clock.monotonicMs() + failOverWithinMs
  const attempts: AttemptRecord<Result>[] = []
  let left = destinations
  let mayGiveUp = true
  for (;;) {
    const available = left.filter(destination => circuitBreakers.openUntilMs(destination) === undefined)
    const destination = chooseUpstream(available, random) ?? firstToClose(left, circuitBreakers)
    trace.provider = destination.provider.id
    left = left.filter(other => other !== destination)
    const result = await callThroughBreaker(destination, call, ports, mayGiveUp && left.length > 0)
    attempts.push({ destination, number: attempts.length + 1, result })
    if (wasGivenUp(result)) mayGiveUp = false
    if (left.length === 0 || !shouldFailOver(result) || clock.monotonicMs() >= failOverUntilMs)
      return attempts
  }
}

/** Calls an upstream and reports to its circuit breaker how that went. */
async function callThroughBreaker<Result extends CallResult>(
  destination: Destination,
  call: CallUpstream<Result>,
  { circuitBreakers, clock }: FailoverPorts,
  mayGiveUp: boolean,
): Promise<Result> {
  const end = circuitBreakers.begin(destination)
  try {
    const result = await call(destination, mayGiveUp)
    end(healthSignal(result, clock.now()))
    return result
  } catch (error) {
    end({ signal: 'none' })
    throw error
  }
}

/** Of upstreams whose circuit breakers are all open, the one that can be probed first. */
function firstToClose(open: readonly Destination[], circuitBreakers: CircuitBreakers): Destination {
  const untilMs = (destination: Destination) => circuitBreakers.openUntilMs(destination) ?? 0
  return open.reduce((first, next) => (untilMs(next) < untilMs(first) ? next : first))
}
