import type { CallerSignal } from '../../gateway/ports/caller-signal.ts'
import type { Deadlines, Timed } from '../deadlines.ts'

export type CutCause = 'timed_out' | 'aborted'

/** Ends one stream's exchange early: when a wait takes too long, or when its caller aborts. */
export class Cutoff implements Timed {
  /** Set by `start`. A stream starts and rests at every chunk, which only moves this. */
  deadlineMs = Infinity
  place = -1
  readonly #exchange: { readonly cut: () => void }
  readonly #deadlines: Deadlines
  readonly #caller: CallerSignal | undefined
  readonly #onAbort = () => this.cut('aborted')
  #cause: CutCause | undefined

  constructor(
    exchange: { readonly cut: () => void },
    deadlines: Deadlines,
    caller: CallerSignal | undefined,
  ) {
    this.#exchange = exchange
    this.#deadlines = deadlines
    this.#caller = caller
    caller?.addEventListener('abort', this.#onAbort)
  }

  /** Why the exchange was cut; undefined while it goes on, and for ever where it ended by itself. */
  cause(): CutCause | undefined {
    return this.#cause
  }

  /** From now on the exchange may take so long until `rest`, or else is cut. Starting again begins anew. */
  start(limitMs: number): void {
    this.deadlineMs = this.#deadlines.now() + limitMs
    this.#deadlines.watch(this)
  }

  /** Nobody waits, so no time runs. */
  rest(): void {
    this.deadlineMs = Infinity
  }

  /** Cuts the exchange, for good. */
  cut(cause: CutCause): void {
    if (this.#cause !== undefined) return
    this.#cause = cause
    this.#exchange.cut()
  }

  /** Lets go of deadline and signal. Call it when the exchange is over, however it ended. */
  lift(): void {
    this.#deadlines.forget(this)
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }

  onDeadline(): void {
    this.rest()
    this.cut('timed_out')
  }
}
