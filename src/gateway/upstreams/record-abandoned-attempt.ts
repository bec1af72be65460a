import { inputTokens, outputTokens } from '../../domain/pricing/usage.ts'
import type { AdmittedRequest } from '../text/admit-text.ts'
import { attemptOf } from './attempt-record.ts'
import type { Attempts } from '../ports/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { CallResult } from './select-result.ts'

export type AbandonPorts = {
  readonly attempts: Pick<Attempts, 'record'>
  readonly clock: Clock
  /** Told of what could not be written. */
  readonly onSettleFailed: (error: unknown) => void
}

/**
 * Ends an attempt whose verdict the client does not get. What it used is recorded as the operator's, and nobody waits for that; a
 * call that still runs is ended.
 */
export function recordAbandonedAttempt(
  job: AdmittedRequest,
  {
    verdict,
    number,
    provider,
  }: { readonly verdict: CallResult; readonly number: number; readonly provider: string },
  { attempts, clock, onSettleFailed }: AbandonPorts,
): void {
  if (verdict.verdict === 'timeout') verdict.late?.abandon()
  if (verdict.verdict !== 'answer' || verdict.answer.usage === null) return
  const { usage } = verdict.answer
  if (inputTokens(usage) + outputTokens(usage) === 0) return
  const attempt = attemptOf(job, { number, provider, atMs: clock.now() })
  attempts.record({ ...attempt, state: 'abandoned', usage }).catch(onSettleFailed)
}
