import { inputTokens, outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import type { Attempts } from '../ports/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { AdmittedRequest } from '../text/admit-text.ts'
import { storedAttempt, type AttemptRecord } from './attempt-record.ts'
import { wasGivenUp, type CallResult } from './select-result.ts'

export type AbandonPorts = {
  readonly attempts: Pick<Attempts, 'record'>
  readonly clock: Clock
  /** Reports an error that no client waits for. */
  readonly onSettleFailed: (error: unknown) => void
}

/**
 * Ends an attempt whose result the client does not get. The usage of an answer is recorded as the operator's cost, in
 * the background; that of a stream that was given up is recorded as unknown. A call that still runs is cancelled.
 */
export function recordAbandonedAttempt(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<CallResult>,
  { attempts, clock, onSettleFailed }: AbandonPorts,
): void {
  const { result } = attempt
  if (result.kind === 'timeout') result.late?.abandon()
  const usage = usedBy(result)
  if (usage === undefined) return
  const row = storedAttempt(admitted, attempt, clock.now())
  attempts.record({ ...row, state: 'abandoned', usage }).catch(onSettleFailed)
}

/** The usage that the operator may have to pay for. Null if it is unknown, undefined if there is none. */
function usedBy(result: CallResult): Usage | null | undefined {
  if (wasGivenUp(result)) return null
  if (result.kind !== 'answer' || result.answer.usage === null) return undefined
  const { usage } = result.answer
  return inputTokens(usage) + outputTokens(usage) === 0 ? undefined : usage
}
