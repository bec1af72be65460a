import type { TextTrace, UpstreamFailure } from '../text/text-trace.ts'
import type { AttemptRecord } from './attempt-record.ts'
import type { CallResult } from './select-result.ts'

type Attempt = AttemptRecord<CallResult>

/** Writes the attempts of a request into its trace. `selected` is the one whose result the client gets. */
export function reportAttempts(trace: TextTrace, attempts: readonly Attempt[], selected: Attempt): void {
  const { destination, result } = selected
  trace.provider = destination.provider.id
  if (result.status !== undefined) trace.upstreamStatus = result.status
  const failures = attempts.flatMap(attempt => failureOf(attempt, attempt === selected))
  if (failures.length > 0) trace.upstreamFailures = failures
  if (attempts.length === 1) return
  trace.failedOverFrom = attempts
    .filter(attempt => attempt !== selected)
    .map(attempt => `${attempt.destination.provider.id}: ${problemOf(attempt.result)}`)
}

function failureOf({ destination, result }: Attempt, isSelected: boolean): readonly UpstreamFailure[] {
  const provider = destination.provider.id
  if (result.kind === 'failure') return [{ provider, reason: result.reason }]
  if (result.kind === 'timeout') return [{ provider, reason: 'timeout' }]
  return result.kind === 'answer' && !isSelected ? [{ provider, reason: 'no_answer' }] : []
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
