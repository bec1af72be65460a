import type { Attempt, AttemptId, Attempts, Bill } from '../ports/ledger/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { LateCall, ProviderOutcome } from '../ports/providers/text-provider.ts'
import type { AdmittedRequest } from './admit-text.ts'
import { providerBillOf } from './settle-text.ts'
import { priceText, reportedUsageLimits } from './price-text.ts'
import { attemptResult, type AttemptRecord } from '../upstreams/attempt-result.ts'
import { storedAttempt } from './call-upstreams.ts'

/** How long an upstream call may continue after its client got a 504. */
export const LATE_MS = 600_000
/**
 * The limits of late calls: how many at once, and how many bytes their requests have. Each has a connection. Others are
 * cancelled.
 */
export const LATE_CALLS_MAX = 1024
export const LATE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Calls that continue after their client got a 504. Each attempt is recorded durably before the client gets its reply.
 * If the call ends with a usage, the record gets it, and the reconciler settles it. A stop or a crash drops the calls,
 * and their records stay `timed_out`.
 */
export class LateAnswers {
  readonly #attempts: Attempts
  readonly #clock: Clock
  readonly #onBilled: (billed: BilledAnswer) => void
  readonly #onFailed: (error: unknown) => void
  readonly #running = new Set<LateCall>()
  #bytes = 0
  #isStopped = false

  constructor(ports: {
    readonly attempts: Attempts
    readonly clock: Clock
    /** Reports each late answer that the provider bills. Its charge is given back. */
    readonly onBilled: (billed: BilledAnswer) => void
    /** Reports an end that could not be recorded. */
    readonly onFailed: (error: unknown) => void
  }) {
    this.#attempts = ports.attempts
    this.#clock = ports.clock
    this.#onBilled = ports.onBilled
    this.#onFailed = ports.onFailed
  }

  /** The number of late calls that run. */
  get running(): number {
    return this.#running.size
  }

  /** Records an attempt that timed out and follows its call in the background. Resolves when the record is durable. */
  async expect(
    admitted: AdmittedRequest,
    attempt: AttemptRecord<unknown>,
    late: LateCall | undefined,
  ): Promise<void> {
    const row = storedAttempt(admitted, attempt, this.#clock.now())
    try {
      await this.#attempts.record({ ...row, state: 'timed_out' })
    } catch (error) {
      late?.abandon()
      throw error
    }
    if (late !== undefined)
      void this.#follow(late, row, {
        billOf: billing(admitted, attempt),
        bytes: admitted.call.body.byteLength,
      })
  }

  /** Cancels every late call. Their records stay as they are. */
  abandon(): void {
    this.#isStopped = true
    for (const late of this.#running) late.abandon()
  }

  async #follow(
    late: LateCall,
    attempt: AttemptId & Pick<Attempt, 'model' | 'provider'>,
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
      else if (await this.#attempts.bill(attempt, bill)) {
        const { model, provider } = attempt
        this.#onBilled({ model, provider, providerCost: bill.providerCost })
      }
    } catch (error) {
      this.#onFailed(error)
    } finally {
      this.#running.delete(late)
      this.#bytes -= bytes
    }
  }
}

/** What a late answer cost the operator; null if that is not known. */
export type BilledAnswer = Pick<Attempt, 'model' | 'provider'> & Pick<Bill, 'providerCost'>

/**
 * Returns a function that prices a late outcome; null if it has no usage. It keeps only what this needs of the request.
 */
function billing(
  admitted: AdmittedRequest,
  { destination }: AttemptRecord<unknown>,
): (outcome: ProviderOutcome) => Bill | null {
  const { quote } = admitted
  const { dialect } = destination.converted ?? admitted
  const limits = reportedUsageLimits(admitted, destination)
  return outcome => {
    const result = attemptResult(outcome, dialect, limits)
    if (result.kind !== 'answer' || result.answer.usage === null) return null
    const { usage, isClamped } = result.answer
    const bill = providerBillOf(result.answer, result.outcome.reportedCost, destination)
    const price = priceText(quote, { usage, provenance: 'reported', isClamped }, bill)
    const { cost, providerCost } = price
    return { usage, cost, providerCost, isClamped: price.isClamped }
  }
}
