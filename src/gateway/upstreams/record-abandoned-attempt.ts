import { ZERO, type NanoUsd } from '../../domain/money.ts'
import { inputTokens, outputTokens, type Usage } from '../../domain/pricing/usage.ts'
import type { Attempts } from '../ports/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { AdmittedRequest } from '../text/admit-text.ts'
import { reportedCostOf } from '../text/meter-usage.ts'
import { recordedCost } from '../text/quote-text.ts'
import { storedAttempt, type AttemptRecord } from './attempt-record.ts'
import { wasGivenUp, type CallResult } from './select-result.ts'

export type AbandonPorts = {
  readonly attempts: Pick<Attempts, 'record'>
  readonly clock: Clock
  /** Reports an error that no client waits for. */
  readonly onSettleFailed: (error: unknown) => void
}

/**
 * Ends an attempt whose result the client does not get. The usage and the reported cost of an answer are recorded for the
 * operator, in the background; the usage of a stream that was given up is recorded as unknown. A call that still runs is
 * cancelled.
 */
export function recordAbandonedAttempt(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<CallResult>,
  { attempts, clock, onSettleFailed }: AbandonPorts,
): void {
  const { result } = attempt
  if (result.kind === 'timeout') result.late?.abandon()
  const billed = billedFor(attempt)
  if (billed === undefined) return
  const row = storedAttempt(admitted, attempt, clock.now())
  attempts.record({ ...row, state: 'abandoned', ...billed }).catch(onSettleFailed)
}

/** What the operator may have to pay for. Undefined if that is nothing. */
function billedFor({
  destination,
  result,
}: AttemptRecord<CallResult>):
  | { readonly usage: Usage | null; readonly providerCost: NanoUsd | null }
  | undefined {
  if (wasGivenUp(result)) return { usage: null, providerCost: null }
  if (result.kind !== 'answer') return undefined
  const { answer, outcome } = result
  const { usage } = answer
  const providerCost = recordedCost(reportedCostOf(answer, outcome.reportedCost, destination))
  const isUsed = usage !== null && inputTokens(usage) + outputTokens(usage) > 0
  return isUsed || (providerCost ?? ZERO) > 0n ? { usage, providerCost } : undefined
}
