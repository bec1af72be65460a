import type { AdmittedRequest } from '../text/admit-text.ts'
import type { Destination } from '../text/resolve-model.ts'
import type { TextTrace, UpstreamFailure } from '../text/text-call.ts'
import { chooseUpstream } from './choose-upstream.ts'
import { recordAbandonedAttempt, type AbandonPorts } from './record-abandoned-attempt.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import { healthSignal, shouldFailOver, selectResult, type CallResult } from './select-result.ts'

/** A row may list more; by then its client has waited long enough. */
export const ATTEMPTS_MAX = 5

/** Asks one upstream. Up to its verdict nothing may have gone to the client. */
export type Attempt<V extends CallResult> = (destination: Destination) => Promise<V>

export type AskPorts = AbandonPorts & {
  readonly circuitBreakers: CircuitBreakers
  /** At least 0 and below 1: shares the requests out by weight. */
  readonly random: () => number
}

/**
 * Asks a job's upstreams one after the other until one answers, and gives the verdict that its client is to get. Upstreams that
 * rest are left out; only where no other is left, one of them is asked all the same. Once `switchWithinMs` have passed, no
 * further one is asked.
 *
 * The trace then names the upstream whose verdict it is, and those that failed it.
 */
export function callWithFailover<V extends CallResult>(
  job: AdmittedRequest,
  attempt: Attempt<V>,
  ports: AskPorts,
  { switchWithinMs }: { readonly switchWithinMs: number },
): Promise<V> {
  const { destinations } = job
  const [only] = destinations
  // Most rows have one upstream. There is nothing to switch to, so nothing is kept of it, and it costs nothing here.
  if (destinations.length === 1 && only !== undefined) return attempt(only)
  return askInTurn(job, attempt, ports, ports.clock.now() + switchWithinMs)
}

async function askInTurn<V extends CallResult>(
  job: AdmittedRequest,
  attempt: Attempt<V>,
  ports: AskPorts,
  switchUntilMs: number,
): Promise<V> {
  const { clock, random, circuitBreakers } = ports
  const { trace } = job.call
  const asked: Asked<V>[] = []
  let left = job.destinations
  for (;;) {
    const ready = left.filter(destination => circuitBreakers.openUntilMs(destination) === undefined)
    const destination = chooseUpstream(ready, random) ?? soonest(left, circuitBreakers)
    delete trace.upstreamStatus
    const verdict = await tried(destination, attempt, ports)
    asked.push({ verdict, destination, status: trace.upstreamStatus })
    left = left.filter(other => other !== destination)
    const isLast =
      left.length === 0 || ready.length === 0 || asked.length === ATTEMPTS_MAX || clock.now() >= switchUntilMs
    if (isLast || !shouldFailOver(verdict)) break
  }
  const chosen = selectResult(asked, clock.now())
  for (const [index, one] of asked.entries()) {
    const { verdict, destination } = one
    if (one !== chosen)
      recordAbandonedAttempt(job, { verdict, number: index + 1, provider: destination.provider.id }, ports)
  }
  tell(trace, chosen, asked)
  return chosen.verdict
}

type Asked<V> = {
  readonly verdict: V
  readonly destination: Destination
  readonly status: number | undefined
}

/** Asks one, and has what is known of it learn how that went. */
async function tried<V extends CallResult>(
  destination: Destination,
  attempt: Attempt<V>,
  { circuitBreakers, clock }: AskPorts,
): Promise<V> {
  const end = circuitBreakers.begin(destination)
  try {
    const verdict = await attempt(destination)
    end(healthSignal(verdict, clock.now()))
    return verdict
  } catch (error) {
    end({ effect: 'none' })
    throw error
  }
}

/** Of upstreams that all rest, the one whose rest ends first. */
function soonest(resting: readonly Destination[], circuitBreakers: CircuitBreakers): Destination {
  const until = (destination: Destination) => circuitBreakers.openUntilMs(destination) ?? 0
  return resting.reduce((first, next) => (until(next) < until(first) ? next : first))
}

function tell(trace: TextTrace, chosen: Asked<CallResult>, asked: readonly Asked<CallResult>[]): void {
  trace.provider = chosen.destination.provider.id
  if (chosen.status === undefined) delete trace.upstreamStatus
  else trace.upstreamStatus = chosen.status
  if (asked.length === 1) return
  const failed = asked.filter(one => one !== chosen)
  trace.switchedFrom = failed.map(problemOf)
  trace.upstreamFailures = failed.flatMap(failureOf)
}

function failureOf({ verdict, destination }: Asked<CallResult>): readonly UpstreamFailure[] {
  const provider = destination.provider.id
  if (verdict.verdict === 'failure') return [{ provider, reason: verdict.reason }]
  if (verdict.verdict === 'timeout') return [{ provider, reason: 'timeout' }]
  return verdict.verdict === 'answer' ? [{ provider, reason: 'no_answer' }] : []
}

function problemOf({ verdict, destination }: Asked<CallResult>): string {
  return `${destination.provider.id}: ${problemIn(verdict)}`
}

function problemIn(verdict: CallResult): string {
  switch (verdict.verdict) {
    case 'failure':
      return verdict.problem
    case 'refusal':
      return `status ${verdict.outcome.status}`
    case 'answer':
      return 'an empty answer'
    case 'timeout':
    case 'aborted':
    case 'stream':
      return verdict.verdict
  }
}
