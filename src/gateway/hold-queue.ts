import type { Id } from '../domain/ids.ts'
import { addUsd, ZERO, type NanoUsd } from '../domain/money.ts'
import type { CallerSignal } from './ports/caller-signal.ts'
import type { Clock } from './ports/clock.ts'
import type { Hold, HoldOutcome, Ledger } from './ports/ledger.ts'

/** `hold`: the worst case of a request is held while it runs. `check`: the balance is only compared with it. */
export type TextHoldMode = 'hold' | 'check'

export type HoldQueueSettings = { readonly waitMs: number; readonly mode: TextHoldMode }

export type TextHoldRequest = { readonly id: Id; readonly accountId: number; readonly amount: NanoUsd }

/** The number of requests of one account that may wait. The next one is refused at once. Bounds memory, not money. */
export const HOLD_WAITERS_MAX = 4096
/** How often waiting requests try again without a hint: money that another node frees may come without one. */
export const RETRY_EVERY_MS = 250

/**
 * Text holds with a bounded wait. A request that would fit after running ones end (`available + held ≥ amount`) waits
 * for them, in order, so that concurrent requests of one account do not refuse each other. One that could never fit is
 * refused at once.
 */
export class HoldQueue {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #settings: HoldQueueSettings
  /** The accounts with waiting requests. */
  readonly #queues = new Map<number, AccountQueue>()

  constructor(ports: { readonly ledger: Ledger; readonly clock: Clock }, settings: HoldQueueSettings) {
    this.#ledger = ports.ledger
    this.#clock = ports.clock
    this.#settings = settings
    this.#ledger.onFreed(accountId => this.#wake(accountId))
  }

  /** Holds, waits and then holds, or refuses. A request whose client disconnects while it waits is refused. */
  async place(request: TextHoldRequest, client: { readonly signal: CallerSignal }): Promise<HoldOutcome> {
    if (this.#settings.mode === 'check') return this.#check(request)
    // A hold of zero takes no money from waiting requests, so it skips the queue.
    const mayTry = request.amount === ZERO || !this.#queues.has(request.accountId)
    const outcome = await (mayTry ? this.#hold(request) : this.#refusal(request.accountId))
    if (outcome.outcome === 'held' || !this.#mayWait(request, outcome)) return outcome
    return this.#wait(request, client.signal)
  }

  /** See `Ledger.releaseHold`. */
  release(hold: Hold): Promise<void> {
    return this.#ledger.releaseHold(hold, this.#clock.now())
  }

  /** The number of requests that wait for held money. */
  get waiting(): number {
    return this.#queues.values().reduce((count, queue) => count + queue.waiters.length, 0)
  }

  #hold(request: TextHoldRequest, amount = request.amount): Promise<HoldOutcome> {
    const { id, accountId } = request
    return this.#ledger.placeHold({ id, accountId, kind: 'text', amount, atMs: this.#clock.now() })
  }

  /** The contract's plain check: the balance covers the worst case now, and nothing is held. */
  async #check(request: TextHoldRequest): Promise<HoldOutcome> {
    const refusal = await this.#refusal(request.accountId)
    return request.amount <= refusal.available || request.amount === ZERO
      ? this.#hold(request, ZERO)
      : refusal
  }

  async #refusal(accountId: number): Promise<Refused> {
    const { available, held } = await this.#ledger.balance(accountId)
    return { outcome: 'refused', available, held: addUsd(held.text, held.media), heldText: held.text }
  }

  #mayWait(request: TextHoldRequest, { available, held }: Refused): boolean {
    return this.#settings.waitMs > 0 && available + held >= request.amount
  }

  #wait(request: TextHoldRequest, signal: CallerSignal): Promise<HoldOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<HoldOutcome>()
    const { accountId } = request
    const queue = this.#queues.get(accountId) ?? this.#openQueue(accountId)
    const cancelTimer = this.#clock.after(this.#settings.waitMs, () => {
      waiter.isDue = true
      this.#wake(accountId)
    })
    const refuse = () => {
      if (!this.#leave(accountId, waiter)) return
      this.#refusal(accountId).then(resolve, reject)
      // The requests behind it may fit.
      this.#wake(accountId)
    }
    signal.addEventListener('abort', refuse)
    const stopWaiting = () => {
      cancelTimer()
      signal.removeEventListener('abort', refuse)
    }
    const waiter: Waiter = { request, resolve, reject, stopWaiting, isDue: false }
    queue.waiters.push(waiter)
    if (signal.aborted || queue.waiters.length > HOLD_WAITERS_MAX) refuse()
    // The money may have been freed between the refusal and now.
    else this.#wake(accountId)
    return promise
  }

  #openQueue(accountId: number): AccountQueue {
    const retryLater = () =>
      this.#clock.after(RETRY_EVERY_MS, () => {
        queue.cancelRetry = retryLater()
        this.#wake(accountId)
      })
    const queue: AccountQueue = { waiters: [], isDraining: false, isStale: false, cancelRetry: retryLater() }
    this.#queues.set(accountId, queue)
    return queue
  }

  #wake(accountId: number): void {
    const queue = this.#queues.get(accountId)
    if (queue === undefined) return
    queue.isStale = true
    if (!queue.isDraining) void this.#drain(accountId, queue)
  }

  /** Serves the waiting requests in order while there is money. One drain per queue at a time keeps the order. */
  async #drain(accountId: number, queue: AccountQueue): Promise<void> {
    queue.isDraining = true
    while (queue.isStale) {
      queue.isStale = false
      for (let head = queue.waiters[0]; head !== undefined; head = queue.waiters[0]) {
        if (!(await this.#serve(accountId, head))) break
      }
    }
    queue.isDraining = false
    if (queue.waiters.length > 0) return
    queue.cancelRetry()
    this.#queues.delete(accountId)
  }

  /** False if the first request in the queue must continue to wait. All requests behind it then wait too. */
  async #serve(accountId: number, head: Waiter): Promise<boolean> {
    try {
      const outcome = await this.#hold(head.request)
      if (outcome.outcome === 'refused' && !head.isDue && this.#mayWait(head.request, outcome)) return false
      if (this.#leave(accountId, head)) head.resolve(outcome)
      // The wait ended while the hold was being placed, so no other code releases this hold.
      else if (outcome.outcome === 'held') await this.release(outcome.hold)
    } catch (error) {
      if (this.#leave(accountId, head)) head.reject(error)
    }
    return true
  }

  /** True for the caller that ends this wait; false if it has ended before. */
  #leave(accountId: number, waiter: Waiter): boolean {
    const waiters = this.#queues.get(accountId)?.waiters ?? []
    const at = waiters.indexOf(waiter)
    if (at < 0) return false
    waiters.splice(at, 1)
    waiter.stopWaiting()
    return true
  }
}

type Refused = Extract<HoldOutcome, { outcome: 'refused' }>

type Waiter = {
  readonly request: TextHoldRequest
  readonly resolve: (outcome: HoldOutcome) => void
  readonly reject: (error: unknown) => void
  readonly stopWaiting: () => void
  /**
   * True if its time is over: the next try is its last. All wait for the same time, so the first in the queue is due
   * first.
   */
  isDue: boolean
}

/** The waiting requests of one account, in order. */
type AccountQueue = {
  readonly waiters: Waiter[]
  isDraining: boolean
  /** True if the balance may have changed since the first request was last tried. */
  isStale: boolean
  cancelRetry: () => void
}
