import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import type { Attempts } from '../ports/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { AdmittedRequest } from '../text/admit-text.ts'
import { storedAttempt, type AttemptRecord } from './attempt-record.ts'
import type { CallResult } from './select-result.ts'

export type AbandonPorts = {
  readonly attempts: Pick<Attempts, 'record'>
  readonly clock: Clock
  /** Reports an error that no client waits for. */
  readonly onSettleFailed: (error: unknown) => void
}

/**
 * Ends an attempt whose result the client does not get. The usage of an answer is recorded as the operator's cost, in
 * the background. A call that still runs is cancelled.
 */
export function recordAbandonedAttempt(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<CallResult>,
  { attempts, clock, onSettleFailed }: AbandonPorts,
): void {
  const { result } = attempt
  if (result.kind === 'timeout') result.late?.abandon()
  if (result.kind !== 'answer' || result.answer.usage === null) return
  const { usage } = result.answer
  if (inputTokens(usage) + outputTokens(usage) === 0) return
  const row = storedAttempt(admitted, attempt, clock.now())
  attempts.record({ ...row, state: 'abandoned', usage }).catch(onSettleFailed)
}
