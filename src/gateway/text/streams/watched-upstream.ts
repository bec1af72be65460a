import type { Clock } from '../../ports/clock.ts'
import type { StreamEnd, UpstreamStream } from '../../ports/providers/text-provider.ts'
import type { Bytes } from '../../../domain/bytes.ts'

/** Given by a read instead of a piece when it is time for a heartbeat, or when the read is interrupted. */
export const SILENCE = Symbol('silence')

type Resolve = (given: Bytes | undefined | typeof SILENCE) => void

/**
 * An upstream's body whose reads can end before a piece arrives: for a heartbeat, or because the client has
 * disconnected. The read of the upstream continues, so no bytes are lost and the upstream's idle limit is not reset.
 */
export class WatchedUpstream implements UpstreamStream {
  readonly #upstream: UpstreamStream
  readonly #clock: Clock
  /** The read of the upstream that has not been delivered. */
  #pending: Promise<Bytes | undefined> | undefined
  #wait: Resolve | undefined
  #dueMs = Infinity
  /**
   * One timer for many reads: a stream has a read for each chunk, and setting a timer for each would cost more than the
   * read.
   */
  #stopTimer: (() => void) | undefined

  constructor(upstream: UpstreamStream, clock: Clock) {
    this.#upstream = upstream
    this.#clock = clock
  }

  get end(): StreamEnd | undefined {
    return this.#upstream.end
  }

  read(): Promise<Bytes | undefined> {
    this.#stop()
    const pending = this.#pending ?? this.#upstream.read()
    this.#pending = undefined
    return pending
  }

  /**
   * Like `read`, but returns `SILENCE` at the monotonic instant `dueMs` if nothing has arrived by then. With Infinity,
   * it waits like `read`.
   */
  readUntil(dueMs: number): Promise<Bytes | undefined | typeof SILENCE> {
    const pending = (this.#pending ??= this.#upstream.read())
    const { promise, resolve, reject } = Promise.withResolvers<Bytes | undefined | typeof SILENCE>()
    this.#wait = resolve
    this.#dueMs = dueMs
    if (dueMs < Infinity) this.#stopTimer ??= this.#startTimer()
    pending.then(piece => this.#deliver(piece, resolve), reject)
    return promise
  }

  /**
   * Ends a `readUntil` that waits: it gets `SILENCE`. If its piece has arrived, it gets the piece. The next read gets
   * what it waited for.
   */
  interrupt(): void {
    const wait = this.#wait
    this.#wait = undefined
    wait?.(SILENCE)
  }

  cancel(): void {
    this.#stop()
    this.#upstream.cancel()
  }

  /** If a heartbeat came first, the next read gets the piece. */
  #deliver(piece: Bytes | undefined, resolve: Resolve): void {
    if (this.#wait !== resolve) return
    this.#wait = undefined
    this.#pending = undefined
    if (piece === undefined) this.#stop()
    resolve(piece)
  }

  #startTimer(): () => void {
    return this.#clock.after(Math.max(0, this.#dueMs - this.#clock.monotonicMs()), () => this.#onTimer())
  }

  #onTimer(): void {
    this.#stopTimer = undefined
    const wait = this.#wait
    // The next read starts the timer again.
    if (wait === undefined) return
    if (this.#clock.monotonicMs() < this.#dueMs) {
      this.#stopTimer = this.#startTimer()
      return
    }
    this.#wait = undefined
    wait(SILENCE)
  }

  #stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }
}
