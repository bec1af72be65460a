import type { AdmittedRequest } from '../text/admit-text.ts'
import { attemptOf } from './attempt-record.ts'
import { attemptResult } from './attempt-result.ts'
import { reportedCostOf } from '../text/meter-usage.ts'
import type { AttemptId, Attempts, Bill } from '../ports/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { LateCall, ProviderOutcome } from '../ports/text-provider.ts'
import { priceText } from '../text/quote-text.ts'
import { usageLimits } from '../text/usage-limits.ts'

/** How long an upstream's call may go on after its client got a 504. */
export const LATE_MS = 600_000
/** So many late calls at once, and so many bytes of their requests, are waited for; each has a connection. Others are ended. */
export const LATE_CALLS_MAX = 1024
export const LATE_BYTES_MAX = 64 * 1024 * 1024

/**
 * The calls of clients that got a 504. Each is marked durably before its client is told; one that ends with a usage after all
 * leaves that in its mark, for the reconciler to settle. A stop or a crash gives the calls up, and their marks stay `timed_out`.
 */
export class LateAnswers {
  readonly #attempts: Attempts
  readonly #clock: Clock
  readonly #onFailed: (error: unknown) => void
  readonly #running = new Set<LateCall>()
  #bytes = 0
  #isStopped = false

  constructor(ports: {
    readonly attempts: Attempts
    readonly clock: Clock
    /** Told of an end that could not be written. */
    readonly onFailed: (error: unknown) => void
  }) {
    this.#attempts = ports.attempts
    this.#clock = ports.clock
    this.#onFailed = ports.onFailed
  }

  /** How many calls are waited for. */
  get running(): number {
    return this.#running.size
  }

  /** Marks the attempt of a job that timed out, and waits for `late` behind its back. Resolves when the mark is durable. */
  async expect(job: AdmittedRequest, late: LateCall | undefined): Promise<void> {
    const { provider = '', switchedFrom = [] } = job.call.trace
    const number = switchedFrom.length + 1
    const attempt = attemptOf(job, { number, provider, atMs: this.#clock.now() })
    try {
      await this.#attempts.record({ ...attempt, state: 'timed_out' })
    } catch (error) {
      late?.abandon()
      throw error
    }
    if (late !== undefined)
      void this.#follow(late, attempt, { billOf: billing(job), bytes: job.call.body.byteLength })
  }

  /** Ends every late call, and writes no more of them. */
  abandon(): void {
    this.#isStopped = true
    for (const late of this.#running) late.abandon()
  }

  async #follow(
    late: LateCall,
    attempt: AttemptId,
    { billOf, bytes }: { readonly billOf: (outcome: ProviderOutcome) => Bill | null; readonly bytes: number },
  ): Promise<void> {
    const isTooMuch = this.#running.size >= LATE_CALLS_MAX || this.#bytes + bytes > LATE_BYTES_MAX
    if (this.#isStopped || isTooMuch) late.abandon()
    this.#running.add(late)
    this.#bytes += bytes
    try {
      const bill = billOf(await late.outcome)
      if (this.#isStopped) return
      if (bill === null) await this.#attempts.close(attempt)
      else await this.#attempts.bill(attempt, bill)
    } catch (error) {
      this.#onFailed(error)
    } finally {
      this.#running.delete(late)
      this.#bytes -= bytes
    }
  }
}

/** Reads what a late outcome is worth; null for one without a usage. Keeps of the job only what that takes. */
function billing({ dialect, model, quote }: AdmittedRequest): (outcome: ProviderOutcome) => Bill | null {
  const limits = usageLimits({ model, quote })
  return outcome => {
    const verdict = attemptResult(outcome, dialect, limits)
    if (verdict.verdict !== 'answer' || verdict.answer.usage === null) return null
    const { usage, isClamped } = verdict.answer
    const reportedCost = reportedCostOf(verdict.answer, verdict.outcome.reportedCost)
    const price = priceText(quote, { usage, provenance: 'reported', isClamped }, reportedCost)
    return { usage, cost: price.cost, isClamped: price.isClamped }
  }
}
