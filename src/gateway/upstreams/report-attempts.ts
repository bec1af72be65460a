import type { TextTrace, UpstreamFailureReason } from '../text/text-trace.ts'
import type { AttemptRecord } from './attempt-record.ts'
import type { CallResult } from './select-result.ts'

type CallRecord = AttemptRecord<CallResult>

/** Writes the attempts of a request into its trace. `selected` is the one whose result the client gets. */
export function reportAttempts(
  trace: TextTrace,
  attempts: readonly CallRecord[],
  selected: CallRecord,
): void {
  const { destination, result } = selected
  trace.provider = destination.provider.id
  if (result.status !== undefined) trace.upstreamStatus = result.status
  for (const attempt of attempts) {
    const reason = failureOf(attempt.result, attempt === selected)
    if (reason === undefined) continue
    const failure = { provider: attempt.destination.provider.id, reason }
    trace.upstreamFailures = [...(trace.upstreamFailures ?? []), failure]
  }
  if (attempts.length === 1) return
  trace.failedOverFrom = attempts
    .filter(attempt => attempt !== selected)
    .map(attempt => `${attempt.destination.provider.id}: ${problemOf(attempt.result)}`)
}

function failureOf(result: CallResult, isSelected: boolean): UpstreamFailureReason | undefined {
  if (result.kind === 'failure') return result.reason
  if (result.kind === 'timeout') return 'timeout'
  return result.kind === 'answer' && !isSelected ? 'no_answer' : undefined
}

function problemOf(result: CallResult): string {
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
