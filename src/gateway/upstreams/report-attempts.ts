import type { RecordedAttempt } from '../ports/requests/request-records.ts'
import type { AttemptRecord, CallResult, UpstreamFailureReason } from './attempt-result.ts'

/** The part of the record of a request that is about its upstreams. */
export type UpstreamsRecord = {
  /** The upstream whose result the client got. */
  provider?: string
  upstreamStatus?: number
  /** The upstreams that failed before another was called, and how. Absent if the first one served. */
  failedOverFrom?: readonly string[]
  /** The calls of upstreams in their order. The one whose answer the client got has no reason. */
  attempts?: readonly RecordedAttempt[]
  /** Every failure of an upstream, including those after which another upstream served. */
  upstreamFailures?: readonly UpstreamFailure[]
}

/** A provider of the catalog and how it failed. */
export type UpstreamFailure = { readonly provider: string; readonly reason: UpstreamFailureReason }

type CallRecord = AttemptRecord<CallResult>

/** Writes the attempts of a request into its record. `selected` is the one whose result the client gets. */
export function reportAttempts(
  record: UpstreamsRecord,
  attempts: readonly CallRecord[],
  selected: CallRecord,
): void {
  const { destination, result } = selected
  record.provider = destination.provider.id
  if (result.status !== undefined) record.upstreamStatus = result.status
  record.attempts = attempts.map(attempt => recordedAttempt(attempt, attempt === selected))
  for (const attempt of attempts) {
    const reason = failureOf(attempt.result, attempt === selected)
    if (reason === undefined) continue
    const failure = { provider: attempt.destination.provider.id, reason }
    record.upstreamFailures = [...(record.upstreamFailures ?? []), failure]
  }
  if (attempts.length === 1) return
  record.failedOverFrom = attempts
    .filter(attempt => attempt !== selected)
    .map(attempt => `${attempt.destination.provider.id}: ${resultProblem(attempt.result)}`)
}

function recordedAttempt({ destination, result }: CallRecord, isSelected: boolean): RecordedAttempt {
  const provider = destination.provider.id
  const refused = result.kind === 'refusal' ? 'refused' : undefined
  const aborted = result.kind === 'aborted' ? 'aborted' : undefined
  const reason = failureOf(result, isSelected) ?? refused ?? aborted
  return reason === undefined ? { provider } : { provider, reason }
}

function failureOf(result: CallResult, isSelected: boolean): UpstreamFailureReason | undefined {
  if (result.kind === 'failure') return result.reason
  if (result.kind === 'timeout') return 'timeout'
  return result.kind === 'answer' && !isSelected ? 'no_answer' : undefined
}

function resultProblem(result: CallResult): string {
  switch (result.kind) {
    case 'failure':
      return result.problem
    case 'refusal':
      return `status ${result.status}`
    case 'answer':
      return 'an empty answer'
    case 'timeout':
    case 'aborted':
    case 'stream':
      return result.kind
  }
}
