import type { Clock } from '../gateway/ports/clock.ts'
import type { Leases } from '../gateway/ports/nodes/leases.ts'

/**
 * After a failure, the other messages to the receiver wait too: it is probably down. Each rest in a row is twice as
 * long as the one before.
 */
const REST_MS = 4000
const REST_MS_MAX = 60_000
/** The time of a lease for reading and recording messages, beside the time of the attempts. */
const RECORDING_MS_MAX = 20_000

export type DeliveryOptions = {
  readonly leases: Leases
  readonly clock: Clock
  /** The interval between two looks for messages. */
  readonly lookEveryMs: number
  /** Receivers that are served at the same time. */
  readonly receiversMax: number
  /** The messages to one receiver in one turn, so that others get theirs. */
  readonly messagesMax: number
  /** A message is delivered or has failed after this time. */
  readonly messageMsMax: number
  /** How long after its rest a receiver still counts as failing. */
  readonly failingMs: number
  readonly leaseNameOf: (receiver: number) => string
  /**
   * At most `limit` receivers with messages that are due, without those that are `busy`. Undefined ends the looks,
   * because there will never be any.
   */
  readonly due: (of: {
    readonly limit: number
    readonly busy: ReadonlySet<number>
  }) => Promise<readonly number[] | undefined>
  /** Attempts to deliver the next message. The signal ends the attempt, and then it is not recorded. */
  readonly deliverNext: (receiver: number, signal: AbortSignal) => Promise<Delivery>
  /** Called after each look. */
  readonly cleanUp?: () => Promise<unknown>
  /** Called with the error if a message could not be read or recorded. */
  readonly onFailed: (error: unknown) => void
}

/** `none`: no message is due. */
export type Delivery = 'none' | 'delivered' | 'failed'

/**
 * Delivers queued messages to their receivers, in turns. No request waits for it: it only reads what requests have
 * recorded. A receiver is served by one node at a time.
 */
export class DeliveryTurns {
  readonly #options: DeliveryOptions
  readonly #leaseMs: number
  readonly #stopping = new AbortController()
  readonly #running = new Map<number, Promise<void>>()
  /** The receivers that rest after failures, until an instant of the monotonic clock. */
  readonly #resting = new Map<number, { readonly untilMs: number; readonly restMs: number }>()
  #cancel = () => {}

  constructor(options: DeliveryOptions) {
    this.#options = options
    // Longer than a turn: no receiver is served by two nodes at the same time. And short: the messages of a node that
    // dies wait for its leases.
    this.#leaseMs = 2 * options.messageMsMax + RECORDING_MS_MAX
  }

  /** Looks for messages now and at each interval, until `stop` is called. */
  start(): void {
    const { clock, lookEveryMs, onFailed } = this.#options
    const look = async () => {
      const mayHaveMore = await this.look().catch((error: unknown) => {
        onFailed(error)
        return true
      })
      if (mayHaveMore && !this.#stopping.signal.aborted)
        this.#cancel = clock.after(lookEveryMs, () => void look())
    }
    void look()
  }

  /** Ends running attempts, and waits until their turns have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancel()
    await this.idle()
  }

  /** Begins a turn for each receiver with messages that has none. Returns whether there may ever be more. */
  async look(): Promise<boolean> {
    const { clock, receiversMax, due, cleanUp, onFailed } = this.#options
    const busy = new Set([...this.#running.keys(), ...this.#restingNow(clock.monotonicMs())])
    const receivers = await due({ limit: receiversMax - this.#running.size, busy })
    for (const receiver of receivers ?? []) {
      const turn = this.#turn(receiver)
        .catch(onFailed)
        .finally(() => this.#running.delete(receiver))
      this.#running.set(receiver, turn)
    }
    await cleanUp?.()
    return receivers !== undefined
  }

  /** Resolves when the running turns have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /**
   * Delivers messages to one receiver, one after the other, until one fails. A turn takes no other message after
   * `messageMsMax`, so it ends before its lease.
   */
  async #turn(receiver: number): Promise<void> {
    const { leases, clock, leaseNameOf, messagesMax, messageMsMax, deliverNext } = this.#options
    const { signal } = this.#stopping
    const endMs = clock.monotonicMs() + messageMsMax
    const lease = await leases.take(leaseNameOf(receiver), this.#leaseMs)
    if (lease === undefined) return
    try {
      for (let sent = 0; sent < messagesMax && !signal.aborted; sent += 1) {
        if (clock.monotonicMs() > endMs) return
        const delivery = await deliverNext(receiver, signal)
        if (delivery === 'none') return
        if (delivery === 'failed') return this.#rest(receiver)
        this.#resting.delete(receiver)
      }
    } finally {
      await lease.release()
    }
  }

  #restingNow(nowMs: number): readonly number[] {
    const { failingMs } = this.#options
    for (const [receiver, { untilMs }] of this.#resting)
      if (untilMs + failingMs < nowMs) this.#resting.delete(receiver)
    return [...this.#resting].filter(([, { untilMs }]) => untilMs > nowMs).map(([receiver]) => receiver)
  }

  #rest(receiver: number): void {
    const earlier = this.#resting.get(receiver)
    const restMs = earlier === undefined ? REST_MS : Math.min(2 * earlier.restMs, REST_MS_MAX)
    this.#resting.set(receiver, { untilMs: this.#options.clock.monotonicMs() + restMs, restMs })
  }
}
