import type { GatewayError } from '../../domain/errors.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { Clock } from '../ports/clock.ts'

type ByteBudgetLimits = {
  readonly bytesMax: number
  /** How many equal shares the budget has. No owner gets more than one of them. */
  readonly shares: number
  /** How long a reservation waits for its bytes. */
  readonly waitMs: number
  /** A part of the budget, and of each share, that only small reservations get. */
  readonly small: {
    /** The size of the largest small reservation. */
    readonly bytesMax: number
    readonly keptBytes: number
  }
}

/** Reservations that may wait at the same time. The next one is refused at once. */
export const BUDGET_WAITERS_MAX = 4096

/** Bytes in use: by large reservations, and by all. */
type Use = { large: number; all: number }

/**
 * Bytes that many pieces of work share, such as memory for request bodies. Each owner, such as an API key, gets only
 * its share. A reservation that does not fit waits in order: a large one behind other large ones, a small one behind
 * other small ones. If an owner has used up its share, its reservations do not stop those of other owners.
 */
export class ByteBudget {
  readonly #limits: ByteBudgetLimits
  readonly #clock: Clock
  readonly #refusal: () => GatewayError
  readonly #total: Use
  /** Of one owner. */
  readonly #share: Use
  readonly #used: Use = { large: 0, all: 0 }
  /** Only owners that use bytes. */
  readonly #owners = new Map<number, Use>()
  readonly #queues: Readonly<Record<Size, Waiter[]>> = { small: [], large: [] }

  /** `refusal` creates the error of a reservation that did not get its bytes in time. */
  constructor(limits: ByteBudgetLimits, clock: Clock, refusal: () => GatewayError) {
    const { bytesMax, shares, small } = limits
    this.#limits = limits
    this.#total = { large: bytesMax - small.keptBytes, all: bytesMax }
    this.#share = { large: this.#total.large / shares, all: bytesMax / shares }
    this.#clock = clock
    this.#refusal = refusal
  }

  /** Bytes in use. */
  get reserved(): number {
    return this.#used.all
  }

  /** The number of reservations that wait. */
  get waiting(): number {
    return this.#queues.small.length + this.#queues.large.length
  }

  /** An empty reservation. It must be released when its work has ended. */
  open(owner: number): Reservation {
    return new Reservation(this, owner)
  }

  /** For `Reservation.tryTake`. */
  tryTake(reservation: Reservation, bytes: number): boolean {
    if (bytes === 0) return true
    if (this.#queues[this.#sizeOf(reservation.bytes + bytes)].length > 0) return false
    return this.#place(reservation, bytes) === 'placed'
  }

  /** For `Reservation.take`. */
  take(reservation: Reservation, bytes: number, signal?: CallerSignal): Promise<void> {
    if (this.tryTake(reservation, bytes)) return Promise.resolve()
    const queue = this.#queues[this.#sizeOf(reservation.bytes + bytes)]
    if (signal?.aborted === true || this.waiting >= BUDGET_WAITERS_MAX) return Promise.reject(this.#refusal())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const refuse = () => {
      waiter.stopWaiting()
      queue.splice(queue.indexOf(waiter), 1)
      reject(this.#refusal())
      // Those behind it may fit.
      this.#serve()
    }
    const cancelTimer = this.#clock.after(this.#limits.waitMs, refuse)
    signal?.addEventListener('abort', refuse)
    const stopWaiting = () => {
      cancelTimer()
      signal?.removeEventListener('abort', refuse)
    }
    const waiter: Waiter = { reservation, bytes, resolve, stopWaiting }
    queue.push(waiter)
    // Those before it may wait only for the shares of their owners.
    this.#serve()
    return promise
  }

  /** For `Reservation.shrinkTo`. */
  shrink(reservation: Reservation, bytes: number): void {
    const { owner, bytes: before } = reservation
    if (bytes >= before) return
    const own = this.#owners.get(owner) ?? { large: 0, all: 0 }
    const large = this.#largeIn(before) - this.#largeIn(bytes)
    const freed: Use = { large, all: before - bytes }
    reservation.bytes = bytes
    add(this.#used, freed, -1)
    add(own, freed, -1)
    if (own.all === 0) this.#owners.delete(owner)
    this.#serve()
  }

  #sizeOf(bytes: number): Size {
    return bytes > this.#limits.small.bytesMax ? 'large' : 'small'
  }

  #largeIn(bytes: number): number {
    return this.#sizeOf(bytes) === 'large' ? bytes : 0
  }

  /**
   * Adds bytes to a reservation if they fit. Otherwise says whether the share of the owner or the whole budget is full.
   */
  #place(reservation: Reservation, bytes: number): 'placed' | 'owner_full' | 'full' {
    const { bytes: before, owner } = reservation
    // A reservation that grows out of the small size counts as large with all of its bytes.
    const large = this.#largeIn(before + bytes) - this.#largeIn(before)
    const more: Use = { large, all: bytes }
    const own = this.#owners.get(owner) ?? { large: 0, all: 0 }
    if (!fits(own, more, this.#share)) return 'owner_full'
    if (!fits(this.#used, more, this.#total)) return 'full'
    add(this.#used, more, 1)
    add(own, more, 1)
    this.#owners.set(owner, own)
    reservation.bytes = before + bytes
    return 'placed'
  }

  #serve(): void {
    if (this.#queues.small.length > 0) this.#serveQueue(this.#queues.small)
    if (this.#queues.large.length > 0) this.#serveQueue(this.#queues.large)
  }

  /** Serves the waiting reservations that fit, in order, and keeps the others. */
  #serveQueue(queue: Waiter[]): void {
    const fullOwners = new Set<number>()
    let isFull = false
    for (const waiter of queue.splice(0)) {
      const { owner } = waiter.reservation
      const mayTry = !isFull && !fullOwners.has(owner)
      const outcome = mayTry ? this.#place(waiter.reservation, waiter.bytes) : undefined
      if (outcome === 'full') isFull = true
      if (outcome === 'owner_full') fullOwners.add(owner)
      if (outcome === 'placed') {
        waiter.stopWaiting()
        waiter.resolve()
      } else queue.push(waiter)
    }
  }
}

/** The bytes that one piece of work has reserved. */
export class Reservation {
  readonly #budget: ByteBudget
  readonly owner: number
  /** Changed by the budget alone. */
  bytes = 0

  constructor(budget: ByteBudget, owner: number) {
    this.#budget = budget
    this.owner = owner
  }

  /** Takes more bytes. False if they do not fit now, or if others wait for theirs. */
  tryTake(bytes: number): boolean {
    return this.#budget.tryTake(this, bytes)
  }

  /**
   * Takes more bytes, and waits for them if they do not fit. Rejects with the refusal of the budget after its time
   * limit, when `signal` aborts, or at once if too many wait. Keeps the bytes that it had.
   */
  take(bytes: number, signal?: CallerSignal): Promise<void> {
    return this.#budget.take(this, bytes, signal)
  }

  /** Gives back all bytes but these. */
  shrinkTo(bytes: number): void {
    this.#budget.shrink(this, bytes)
  }

  /**
   * Gives all bytes back. Call it when the work has ended, and nothing waits for bytes. Repeating it changes nothing.
   */
  release(): void {
    this.#budget.shrink(this, 0)
  }
}

type Size = 'small' | 'large'

type Waiter = {
  readonly reservation: Reservation
  readonly bytes: number
  readonly resolve: () => void
  readonly stopWaiting: () => void
}

function add(use: Use, more: Use, sign: 1 | -1): void {
  use.large += sign * more.large
  use.all += sign * more.all
}

/** Small reservations may use the memory for large ones, but large ones may not use the memory for small ones. */
function fits(use: Use, more: Use, max: Use): boolean {
  return use.all + more.all <= max.all && (more.large === 0 || use.large + more.large <= max.large)
}
