import type { Id } from '../../domain/ids.ts'
import { fitsAfterAll } from '../../domain/ledger/hold.ts'
import type { LimitRefusal } from '../../domain/limits/admission.ts'
import type { Scope } from '../../domain/limits/scope.ts'
import { addUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { BooksGuard } from '../books/books-guard.ts'
import type { CallerSignal } from '../ports/caller-signal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Hold, HoldDemand, HoldOutcome, Ledger } from '../ports/ledger/ledger.ts'

/**
 * `hold`: the worst case of a request is held while it runs. `check`: the balance is only compared with it, and no
 * request waits for it.
 */
export type TextHoldMode = 'hold' | 'check'

export type HoldQueueSettings = { readonly waitMs: number; readonly mode: TextHoldMode }

export type TextHoldRequest = {
  readonly id: Id
  readonly accountId: number
  readonly amount: NanoUsd
  readonly demand: HoldDemand
}

/** The number of requests that may wait in one queue. The next one is refused at once. Bounds memory, not money. */
export const HOLD_WAITERS_MAX = 4096
/** How often waiting requests try again without a hint: money that another node frees may come without one. */
export const RETRY_EVERY_MS = 250

/**
 * Text holds with a bounded wait. A request that would fit after running ones end, in the balance and in every budget,
 * waits for them, in order, so that concurrent requests do not refuse each other. One that could never fit is refused
 * at once. There is a queue for the balance of an account and one for each scope whose budget refuses, so that a key
 * without budget does not delay the other keys of its account.
 */
export class HoldQueue {
  readonly #ledger: Ledger
  readonly #guard: Pick<BooksGuard, 'refusalOf'>
  readonly #clock: Clock
  readonly #settings: HoldQueueSettings
  /** The queues of each account with waiting requests, by what their requests wait for. */
  readonly #queues = new Map<number, Map<string, WaitQueue>>()

  constructor(
    ports: {
      readonly ledger: Ledger
      readonly guard: Pick<BooksGuard, 'refusalOf'>
      readonly clock: Clock
    },
    settings: HoldQueueSettings,
  ) {
    this.#ledger = ports.ledger
    this.#guard = ports.guard
    this.#clock = ports.clock
    this.#settings = settings
    this.#ledger.onFreed(accountId => this.#wake(accountId))
  }

  /** Holds, waits and then holds, or refuses. A request whose client disconnects while it waits is refused. */
  async place(request: TextHoldRequest, client: { readonly signal: CallerSignal }): Promise<HoldOutcome> {
    const outcome = await this.#firstTry(request)
    const reason = this.#reasonToWait(request, outcome)
    return reason === undefined ? outcome : this.#wait({ request, reason, outcome }, client.signal)
  }

  /** See `Ledger.releaseHold`. */
  release(hold: Hold): Promise<void> {
    return this.#ledger.releaseHold(hold, this.#clock.now())
  }

  /** The number of requests that wait for held money. */
  get waiting(): number {
    let count = 0
    for (const queues of this.#queues.values())
      for (const { waiters } of queues.values()) count += waiters.length
    return count
  }

  /** A request takes no money or budget from those that wait already, so it is not tried before them. */
  #firstTry(request: TextHoldRequest): Promise<HoldOutcome> {
    const queues = this.#queues.get(request.accountId)
    // A hold of zero takes no money from waiting requests, so it skips the queue.
    if (queues === undefined || request.amount === ZERO) return this.#hold(request)
    for (const { waiters } of queuesOf(request, queues)) {
      const { outcome } = waiters.at(-1) ?? {}
      if (outcome?.outcome === 'limited' && mayFit(request, outcome.refusal)) return Promise.resolve(outcome)
    }
    return queues.has(BALANCE) ? this.#refusal(request.accountId) : this.#hold(request)
  }

  #hold(request: TextHoldRequest): Promise<HoldOutcome> {
    return this.#settings.mode === 'check' ? this.#check(request) : this.#placeHold(request, request.amount)
  }

  /** The contract's plain check: the balance covers the worst case now, and only budgets reserve it. */
  async #check(request: TextHoldRequest): Promise<HoldOutcome> {
    const refusal = await this.#refusal(request.accountId)
    return request.amount <= refusal.available || request.amount === ZERO
      ? this.#placeHold(request, ZERO)
      : refusal
  }

  /** Asks the guard at each try, because the books may become wrong while a request waits. */
  #placeHold({ id, accountId, demand }: TextHoldRequest, amount: NanoUsd): Promise<HoldOutcome> {
    const refusal = this.#guard.refusalOf(accountId)
    if (refusal !== undefined) return Promise.reject(refusal)
    const atMs = this.#clock.now()
    return this.#ledger.placeHold({ id, accountId, kind: 'text', amount, demand, atMs })
  }

  async #refusal(accountId: number): Promise<Refused> {
    const { available, held } = await this.#ledger.balance(accountId)
    return { outcome: 'refused', available, held: addUsd(held.text, held.media), heldText: held.text }
  }

  /** What the request can wait for: the name of its queue. Undefined if waiting cannot help. */
  #reasonToWait({ amount }: TextHoldRequest, outcome: HoldOutcome): string | undefined {
    const { mode, waitMs } = this.#settings
    if (waitMs === 0 || outcome.outcome === 'held') return undefined
    if (outcome.outcome === 'refused')
      return mode === 'hold' && fitsAfterAll(outcome, amount) ? BALANCE : undefined
    const { refusal } = outcome
    return refusal.limit === 'budget' && refusal.isReserved ? nameOf(refusal.scope) : undefined
  }

  #wait({ request, reason, outcome: refused }: Waiting, signal: CallerSignal): Promise<HoldOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<HoldOutcome>()
    const { accountId } = request
    const queue = this.#queueOf(accountId, reason)
    const cancelTimer = this.#clock.after(this.#settings.waitMs, () => {
      waiter.isDue = true
      this.#wake(accountId)
    })
    const refuse = () => {
      if (!leave(waiter)) return
      if (waiter.outcome.outcome === 'limited') resolve(waiter.outcome)
      else this.#refusal(accountId).then(resolve, reject)
      // The requests behind it may fit.
      this.#wake(accountId)
    }
    signal.addEventListener('abort', refuse)
    const stopWaiting = () => {
      cancelTimer()
      signal.removeEventListener('abort', refuse)
    }
    const waiter: Waiter = { request, queue, outcome: refused, resolve, reject, stopWaiting, isDue: false }
    queue.waiters.push(waiter)
    if (signal.aborted || queue.waiters.length > HOLD_WAITERS_MAX) refuse()
    // The money may have been freed between the refusal and now.
    else this.#wake(accountId)
    return promise
  }

  #queueOf(accountId: number, reason: string): WaitQueue {
    const queues = this.#queues.get(accountId) ?? new Map<string, WaitQueue>()
    this.#queues.set(accountId, queues)
    const known = queues.get(reason)
    if (known !== undefined) return known
    const retryLater = () =>
      this.#clock.after(RETRY_EVERY_MS, () => {
        queue.cancelRetry = retryLater()
        this.#wake(accountId)
      })
    const queue: WaitQueue = { waiters: [], isDraining: false, isStale: false, cancelRetry: retryLater() }
    queues.set(reason, queue)
    return queue
  }

  #wake(accountId: number): void {
    for (const [reason, queue] of this.#queues.get(accountId) ?? []) {
      queue.isStale = true
      if (!queue.isDraining) void this.#drain(accountId, reason, queue)
    }
  }

  /** Serves the waiting requests in order while there is money. One drain per queue at a time keeps the order. */
  async #drain(accountId: number, reason: string, queue: WaitQueue): Promise<void> {
    queue.isDraining = true
    while (queue.isStale) {
      queue.isStale = false
      for (let head = queue.waiters[0]; head !== undefined; head = queue.waiters[0]) {
        if (!(await this.#serve(reason, head))) break
      }
    }
    queue.isDraining = false
    if (queue.waiters.length > 0) return
    queue.cancelRetry()
    const queues = this.#queues.get(accountId)
    queues?.delete(reason)
    if (queues?.size === 0) this.#queues.delete(accountId)
  }

  /** False if the first request in the queue must continue to wait. All requests behind it then wait too. */
  async #serve(reason: string, head: Waiter): Promise<boolean> {
    try {
      const outcome = await this.#hold(head.request)
      const next = head.isDue ? undefined : this.#reasonToWait(head.request, outcome)
      if (next !== undefined) {
        if (head.queue.waiters[0] !== head) return true
        head.outcome = outcome
        if (next === reason) return false
        this.#move(head, next)
      } else if (leave(head)) head.resolve(outcome)
      // The wait ended while the hold was being placed, so no other code releases this hold.
      else if (outcome.outcome === 'held') await this.release(outcome.hold)
    } catch (error) {
      if (leave(head)) head.reject(error)
    }
    return true
  }

  /** The money that it waited for is there, and it waits for another. It does not delay the requests behind it. */
  #move(waiter: Waiter, reason: string): void {
    waiter.queue.waiters.shift()
    waiter.queue = this.#queueOf(waiter.request.accountId, reason)
    waiter.queue.waiters.push(waiter)
  }
}

/** True for the caller that ends this wait; false if it has ended before. */
function leave(waiter: Waiter): boolean {
  const { waiters } = waiter.queue
  const at = waiters.indexOf(waiter)
  if (at < 0) return false
  waiters.splice(at, 1)
  waiter.stopWaiting()
  return true
}

/** The queue of the requests that wait for the balance. The others have the names of scopes. */
const BALANCE = 'balance'

function nameOf({ kind, id, model }: Scope): string {
  return `${kind} ${id} ${model}`
}

/** Whether the request would fit into the budget if nothing else reserved it. */
function mayFit({ amount }: TextHoldRequest, refusal: LimitRefusal): boolean {
  return refusal.limit === 'budget' && addUsd(refusal.spent, amount) <= refusal.allowed
}

/** The queues of the scopes that a request passes. */
function queuesOf(
  { accountId, demand: { apiKeyId, projectId, model } }: TextHoldRequest,
  queues: ReadonlyMap<string, WaitQueue>,
): readonly WaitQueue[] {
  const scopes: readonly Scope[] = [
    { kind: 'account', id: accountId, model: '' },
    ...(projectId === undefined ? [] : [{ kind: 'project', id: projectId, model: '' } as const]),
    { kind: 'account_model', id: accountId, model },
    { kind: 'key', id: apiKeyId, model: '' },
    { kind: 'key_model', id: apiKeyId, model },
  ]
  return scopes.flatMap(scope => queues.get(nameOf(scope)) ?? [])
}

type Waiting = { readonly request: TextHoldRequest; readonly reason: string; readonly outcome: HoldOutcome }

type Refused = Extract<HoldOutcome, { outcome: 'refused' }>

type Waiter = {
  readonly request: TextHoldRequest
  queue: WaitQueue
  /** Why it was last refused. */
  outcome: HoldOutcome
  readonly resolve: (outcome: HoldOutcome) => void
  readonly reject: (error: unknown) => void
  readonly stopWaiting: () => void
  /**
   * True if its time is over: the next try is its last. All wait for the same time, so the first in the queue is due
   * first.
   */
  isDue: boolean
}

/** The requests that wait for the same money, in order. */
type WaitQueue = {
  readonly waiters: Waiter[]
  isDraining: boolean
  /** True if the balance may have changed since the first request was last tried. */
  isStale: boolean
  cancelRetry: () => void
}
