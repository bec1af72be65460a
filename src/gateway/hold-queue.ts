import type { Id } from '../domain/ids.ts'
import { addUsd, ZERO, type NanoUsd } from '../domain/money.ts'
import type { CallerSignal } from './ports/caller-signal.ts'
import type { Clock } from './ports/clock.ts'
import type { Captured, Charge, Hold, HoldOutcome, Ledger } from './ports/ledger.ts'

/** `hold`: a request's worst case is set aside while it runs. `check`: the balance is only looked at. */
export type TextHoldMode = 'hold' | 'check'

export type HoldQueueSettings = { readonly waitMs: number; readonly mode: TextHoldMode }

export type TextHoldRequest = { readonly id: Id; readonly accountId: number; readonly amount: NanoUsd }

/** How many requests of one account may wait; the next is refused at once. Bounds memory, not money. */
export const WAITERS_MAX = 4096

/**
 * Text holds with a bounded wait: a request that would fit once running ones end (`available + held ≥ amount`) waits for
 * them, in order, so that nobody is refused for a moment's crowding. One that could never fit is refused at once.
 */
export class HoldQueue {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #settings: HoldQueueSettings
  /** An account nobody waits for has no lane. */
  readonly #lanes = new Map<number, Lane>()

  constructor(ports: { readonly ledger: Ledger; readonly clock: Clock }, settings: HoldQueueSettings) {
    this.#ledger = ports.ledger
    this.#clock = ports.clock
    this.#settings = settings
    this.#ledger.onFreed(accountId => this.#wake(accountId))
  }

  /**
   * Holds, waits to hold, or refuses. A client that leaves while it waits is refused. Answers at once where the ledger does and
   * nobody has to wait.
   */
  place(
    request: TextHoldRequest,
    client: { readonly signal: CallerSignal },
  ): HoldOutcome | Promise<HoldOutcome> {
    if (this.#settings.mode === 'check') return this.#check(request)
    // Who needs nothing waits for nobody.
    const isFirst = request.amount === ZERO || !this.#lanes.has(request.accountId)
    const outcome = isFirst ? this.#hold(request) : this.#refusal(request.accountId)
    if (outcome instanceof Promise) return outcome.then(found => this.#settle(request, found, client))
    return this.#settle(request, outcome, client)
  }

  /** As `Ledger.captureHold`. */
  capture(hold: Hold, charge: Charge): Promise<Captured> {
    return this.#ledger.captureHold(hold, charge)
  }

  /** As `Ledger.releaseHold`. */
  release(hold: Hold): void | Promise<void> {
    return this.#ledger.releaseHold(hold, this.#clock.now())
  }

  /** How many requests wait for money that others hold. */
  get waiting(): number {
    return this.#lanes.values().reduce((count, lane) => count + lane.waiters.length, 0)
  }

  #settle(
    request: TextHoldRequest,
    outcome: HoldOutcome,
    client: { readonly signal: CallerSignal },
  ): HoldOutcome | Promise<HoldOutcome> {
    if (outcome.outcome === 'held' || !this.#mayWait(request, outcome)) return outcome
    return this.#wait(request, client.signal)
  }

  #hold(request: TextHoldRequest, amount = request.amount): HoldOutcome | Promise<HoldOutcome> {
    const { id, accountId } = request
    return this.#ledger.placeHold({ id, accountId, kind: 'text', amount, atMs: this.#clock.now() })
  }

  /** The contract's plain check: the balance covers the worst case now, and nothing is set aside. */
  async #check(request: TextHoldRequest): Promise<HoldOutcome> {
    const refusal = await this.#refusal(request.accountId)
    return request.amount <= refusal.available || request.amount === ZERO
      ? this.#hold(request, ZERO)
      : refusal
  }

  async #refusal(accountId: number): Promise<Refused> {
    const { available, held } = await this.#ledger.balance(accountId)
    return { outcome: 'refused', available, held: addUsd(held.text, held.media) }
  }

  #mayWait(request: TextHoldRequest, { available, held }: Refused): boolean {
    return this.#settings.waitMs > 0 && available + held >= request.amount
  }

  #wait(request: TextHoldRequest, signal: CallerSignal): Promise<HoldOutcome> {
    const { accountId } = request
    let lane = this.#lanes.get(accountId)
    if (lane === undefined)
      this.#lanes.set(accountId, (lane = { waiters: [], isDraining: false, isStale: false }))
    const { promise, resolve, reject } = Promise.withResolvers<HoldOutcome>()
    const giveUp = () => {
      if (!this.#leave(accountId, waiter)) return
      // Answers with the figures of now. Whatever this request blocked may fit without it.
      this.#refusal(accountId).then(resolve, reject)
      this.#wake(accountId)
    }
    const waiter: Waiter = { request, resolve, reject, stopWaiting: () => undefined }
    lane.waiters.push(waiter)
    const cancelTimer = this.#clock.after(this.#settings.waitMs, giveUp)
    signal.addEventListener('abort', giveUp)
    waiter.stopWaiting = () => {
      cancelTimer()
      signal.removeEventListener('abort', giveUp)
    }
    if (signal.aborted || lane.waiters.length > WAITERS_MAX) giveUp()
    // What stood in the way may have ended between the refusal and here.
    else this.#wake(accountId)
    return promise
  }

  #wake(accountId: number): void {
    const lane = this.#lanes.get(accountId)
    if (lane === undefined) return
    lane.isStale = true
    if (!lane.isDraining) void this.#drain(accountId, lane)
  }

  /** Gives the head of the lane its hold while there is money for it. One drain a lane at a time keeps the order. */
  async #drain(accountId: number, lane: Lane): Promise<void> {
    lane.isDraining = true
    while (lane.isStale) {
      lane.isStale = false
      for (let head = lane.waiters[0]; head !== undefined; head = lane.waiters[0]) {
        if (!(await this.#serve(accountId, head))) break
      }
    }
    lane.isDraining = false
    if (lane.waiters.length === 0) this.#lanes.delete(accountId)
  }

  /** False where the head must go on waiting, and with it everyone behind it. */
  async #serve(accountId: number, head: Waiter): Promise<boolean> {
    try {
      const outcome = await this.#hold(head.request)
      if (outcome.outcome === 'refused' && this.#mayWait(head.request, outcome)) return false
      if (this.#leave(accountId, head)) head.resolve(outcome)
      // It gave up while the ledger answered, so nobody will ever capture this hold.
      else if (outcome.outcome === 'held') await this.#ledger.releaseHold(outcome.hold, this.#clock.now())
    } catch (error) {
      if (this.#leave(accountId, head)) head.reject(error)
    }
    return true
  }

  /** True for the one who ends this wait; false when it has ended already. */
  #leave(accountId: number, waiter: Waiter): boolean {
    const waiters = this.#lanes.get(accountId)?.waiters ?? []
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
  stopWaiting: () => void
}

type Lane = {
  readonly waiters: Waiter[]
  isDraining: boolean
  /** Something changed since the head was last tried. */
  isStale: boolean
}
