import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { ProviderCall, ProviderOutcome } from '../../gateway/ports/text-provider.ts'
import { failureReason } from '../failure-reason.ts'
import type { AnswerReceiver, HttpClient, HttpExchange } from '../../http1/client/http-client.ts'
import type { HttpRequest } from '../../http1/client/http-request.ts'
import type { ResponseHead } from '../../http1/client/response-head.ts'
import { readHead } from './answer-head.ts'
import type { CutCause } from './cutoff.ts'
import type { Deadlines, Timed } from '../deadlines.ts'
import { answered, ANSWER_BYTES_MAX, TOO_LARGE } from './read-answer.ts'

type Resolve = (outcome: ProviderOutcome) => void

/**
 * One call for a whole answer, from its request to its outcome. When its time is over and it may be late, its caller gets
 * `timed_out` with the rest of it, which ends once more.
 */
export class WholeCall implements AnswerReceiver, Timed {
  deadlineMs: number
  place = -1
  readonly #costHeader: string | undefined
  readonly #lateMs: number | undefined
  readonly #deadlines: Deadlines
  readonly #exchange: HttpExchange
  #signal: CallerSignal | undefined
  #resolve: Resolve
  #cause: CutCause | undefined
  #isLate = false

  constructor(
    call: ProviderCall,
    request: HttpRequest,
    {
      http,
      deadlines,
      signal,
    }: {
      readonly http: HttpClient
      readonly deadlines: Deadlines
      readonly signal: CallerSignal | undefined
    },
    resolve: Resolve,
  ) {
    // Not the call itself: a large body would be kept by it while the upstream works.
    this.#costHeader = call.provider.costHeader
    this.#lateMs = call.lateMs
    this.#deadlines = deadlines
    this.#signal = signal
    this.#resolve = resolve
    this.deadlineMs = deadlines.now() + call.readTimeoutMs
    // Before the call takes a connection that waits, so that something is watched all the time and the timer stays.
    deadlines.watch(this)
    this.#exchange = http.begin(request, call.body)
    signal?.addEventListener('abort', this)
    this.#exchange.answer(ANSWER_BYTES_MAX, this)
  }

  /** Its caller has aborted. An object listens, so that a call without a signal makes no function for it. */
  handleEvent(): void {
    this.#cut('aborted')
  }

  onAnswer(head: ResponseHead, bytes: Buffer, start: number, end: number): void {
    const outcome = answered(readHead(head, this.#costHeader), bytes, start, end)
    if (outcome instanceof Promise)
      outcome.then(
        unpacked => this.#end(unpacked),
        error => this.onFailed(error),
      )
    else this.#end(outcome)
  }

  onTooLarge(): void {
    this.#end({ outcome: 'unreachable', reason: TOO_LARGE })
  }

  onFailed(error: unknown): void {
    const cause = this.#cause
    this.#end(
      cause === undefined ? { outcome: 'unreachable', reason: failureReason(error) } : { outcome: cause },
    )
  }

  onDeadline(nowMs: number): void {
    const lateMs = this.#lateMs
    if (lateMs === undefined || this.#isLate) return this.#cut('timed_out')
    this.#isLate = true
    this.deadlineMs = nowMs + lateMs
    this.#ignoreSignal()
    const { promise, resolve } = Promise.withResolvers<ProviderOutcome>()
    this.#resolve({ outcome: 'timed_out', late: { outcome: promise, abandon: () => this.#cut('aborted') } })
    this.#resolve = resolve
  }

  #end(outcome: ProviderOutcome): void {
    this.#deadlines.forget(this)
    this.#ignoreSignal()
    this.#resolve(outcome)
  }

  #cut(cause: CutCause): void {
    if (this.#cause !== undefined) return
    this.#cause = cause
    this.deadlineMs = Infinity
    this.#exchange.cut()
  }

  #ignoreSignal(): void {
    this.#signal?.removeEventListener('abort', this)
    this.#signal = undefined
  }
}
