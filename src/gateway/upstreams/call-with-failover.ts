import { mayRetry } from '../../domain/catalog/provider.ts'
import { pause } from '../ports/clock.ts'
import type { AdmittedRequest } from '../text/admit-text.ts'
import type { Destination } from '../text/resolve-model.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { chooseUpstream } from './choose-upstream.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import type { RetryBudgets } from './retry-budgets.ts'
import { retryDelayMs } from './retry-delay.ts'
import { recordAbandonedAttempt, recordFreeResult, type AbandonPorts } from './record-abandoned-attempt.ts'
import { reportAttempts } from './report-attempts.ts'
import { healthSignal, selectResult, shouldFailOver, wasGivenUp, type CallResult } from './select-result.ts'

/** Calls one upstream. Until it resolves, nothing may have gone to the client. */
export type CallUpstream<Result extends CallResult> = (
  destination: Destination,
  /**
   * Whether a stream may be given up when its first byte does not come in time. This is true only if another upstream
   * is left, and only once per request, so that a slow model is not given up everywhere.
   */
  mayGiveUp: boolean,
) => Promise<Result>

export type FailoverPorts = AbandonPorts & {
  readonly circuitBreakers: CircuitBreakers
  readonly retryBudgets: RetryBudgets
  /** At least 0 and below 1. Distributes the requests by weight. */
  readonly random: () => number
}

/**
 * Calls the upstreams of a request one after the other until one answers, and returns the attempt whose result the
 * client gets. Each is called at most once. Those with an open circuit breaker come last, because they may have
 * recovered and are better than no answer. If a second try of the last one may succeed, it is called once more. After
 * `failOverWithinMs`, no further call is made.
 */
export async function callWithFailover<Result extends CallResult>(
  admitted: AdmittedRequest,
  call: CallUpstream<Result>,
  ports: FailoverPorts,
  { failOverWithinMs }: { readonly failOverWithinMs: number },
): Promise<AttemptRecord<Result>> {
  const failOverUntilMs = ports.clock.monotonicMs() + failOverWithinMs
  // With a single upstream there is nothing to fail over to, so it needs no circuit breaker.
  const send = admitted.destinations.length === 1 ? call : throughBreaker(call, ports)
  const attempts = await callInTurn(admitted, send, ports, failOverUntilMs)
  const last = attempts.at(-1)
  if (last?.result.kind === 'failure' && attempts.length === admitted.destinations.length) {
    const retried = await retry(last, send, ports, failOverUntilMs)
    if (retried !== undefined) attempts.push(retried)
  }
  const selected = selectResult(attempts, ports.clock.now())
  for (const attempt of attempts) if (attempt !== selected) recordAbandonedAttempt(admitted, attempt, ports)
  recordFreeResult(admitted, selected, ports)
  reportAttempts(admitted.call.trace, attempts, selected)
  return selected
}

async function callInTurn<Result extends CallResult>(
  { destinations, call: { trace } }: AdmittedRequest,
  send: CallUpstream<Result>,
  { circuitBreakers, clock, random, retryBudgets }: FailoverPorts,
  failOverUntilMs: number,
): Promise<AttemptRecord<Result>[]> {
  const attempts: AttemptRecord<Result>[] = []
  let left = destinations
  let mayGiveUp = true
  for (;;) {
    const available = left.filter(destination => circuitBreakers.openUntilMs(destination) === undefined)
    const destination = chooseUpstream(available, random) ?? firstToClose(left, circuitBreakers)
    trace.provider = destination.provider.id
    left = left.filter(other => other !== destination)
    retryBudgets.countRequest(destination.upstream)
    const result = await send(destination, mayGiveUp && left.length > 0)
    attempts.push({ destination, number: attempts.length + 1, result })
    if (wasGivenUp(result)) mayGiveUp = false
    if (left.length === 0 || !shouldFailOver(result) || clock.monotonicMs() >= failOverUntilMs)
      return attempts
  }
}

/** Calls an upstream that failed once more, after a pause. Undefined if it may not be called again. */
async function retry<Result extends CallResult>(
  { destination, number, result }: AttemptRecord<Result>,
  call: CallUpstream<Result>,
  ports: FailoverPorts,
  failOverUntilMs: number,
): Promise<AttemptRecord<Result> | undefined> {
  const { circuitBreakers, clock, random, retryBudgets } = ports
  const delayMs = retryDelayMs(result, clock.now(), random)
  const isOpen = () => circuitBreakers.openUntilMs(destination) !== undefined
  if (delayMs === undefined || !mayRetry(destination.provider) || isOpen()) return undefined
  if (clock.monotonicMs() + delayMs >= failOverUntilMs) return undefined
  if (!retryBudgets.takeRetry(destination.upstream)) return undefined
  await pause(clock, delayMs)
  // Other requests may have failed during the pause.
  if (isOpen()) return undefined
  return {
    destination,
    number: number + 1,
    result: await call(destination, false),
  }
}

/** Reports to the circuit breaker of each upstream how its calls went. */
function throughBreaker<Result extends CallResult>(
  call: CallUpstream<Result>,
  { circuitBreakers, clock }: FailoverPorts,
): CallUpstream<Result> {
  return async (destination, mayGiveUp) => {
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
}

/** The upstream that can be probed first, if all circuit breakers are open. */
function firstToClose(open: readonly Destination[], circuitBreakers: CircuitBreakers): Destination {
  const untilMs = (destination: Destination) => circuitBreakers.openUntilMs(destination) ?? 0
  return open.reduce((first, next) => (untilMs(next) < untilMs(first) ? next : first))
}
