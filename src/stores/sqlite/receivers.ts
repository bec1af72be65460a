import type { NewEvent } from '../../domain/webhooks/event.ts'
import {
  countWaiting,
  QUEUE_MAX,
  readReceivers,
  receiversOf,
  type EventReceivers,
  type ReadReceivers,
  type Receivers,
} from '../books/events/receivers.ts'
import type { Step } from '../books/steps.ts'
import type { Transactions } from './commits/transactions.ts'

/**
 * The receivers of events in memory: a database file belongs to one process. So an event without receivers costs one
 * look at two maps.
 */
export class KnownReceivers implements Receivers {
  /** Undefined if they must be read. */
  #known: ReadReceivers | undefined
  /**
   * The messages that wait for each webhook, as far as they were counted. Counting a long queue takes a millisecond,
   * and a receiver that is down must not slow the steps of requests.
   */
  readonly #waiting = new Map<number, number>()

  constructor(transactions: Transactions) {
    transactions.join({ afterRollback: () => this.forget() })
  }

  *of(event: Pick<NewEvent, 'type' | 'accountId'>): Step<EventReceivers> {
    return receiversOf((this.#known ??= yield* readReceivers('all')), event)
  }

  *isFull(webhookId: number): Step<boolean> {
    const known = this.#waiting.get(webhookId)
    const waiting = known ?? (yield* countWaiting(webhookId))
    if (known === undefined) this.#waiting.set(webhookId, waiting)
    return waiting >= QUEUE_MAX
  }

  addWaiting(webhookId: number, change: 1 | -1): void {
    const waiting = this.#waiting.get(webhookId)
    if (waiting !== undefined) this.#waiting.set(webhookId, waiting + change)
  }

  forget(): void {
    this.#known = undefined
    this.#waiting.clear()
  }
}
