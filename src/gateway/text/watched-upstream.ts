import type { Clock } from '../ports/clock.ts'
import type { StreamEnd, UpstreamStream } from '../ports/text-provider.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Given by a read instead of a piece when it is time for a heartbeat. */
export const SILENCE = Symbol('silence')

type Resolve = (given: Bytes | undefined | typeof SILENCE) => void

/**
 * An upstream's body that is read with a time for the next heartbeat. A read that ends with a heartbeat does not end
 * the read of the upstream, so a heartbeat neither loses bytes nor resets the upstream's idle limit.
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

  /** Like `read`, but returns `SILENCE` at the monotonic instant `dueMs` if nothing has arrived by then. */
  readUntil(dueMs: number): Promise<Bytes | undefined | typeof SILENCE> {
    const pending = (this.#pending ??= this.#upstream.read())
    const { promise, resolve, reject } = Promise.withResolvers<Bytes | undefined | typeof SILENCE>()
    this.#wait = resolve
    this.#dueMs = dueMs
    this.#stopTimer ??= this.#startTimer()
    pending.then(piece => this.#deliver(piece, resolve), reject)
    return promise
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
