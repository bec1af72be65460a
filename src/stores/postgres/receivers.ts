import type { NewEvent } from '../../domain/webhooks/event.ts'
import {
  countWaiting,
  QUEUE_MAX,
  readReceivers,
  receiversOf,
  type EventReceivers,
  type Receivers,
} from '../books/events/receivers.ts'
import { takeLock, type Step } from '../books/steps.ts'

/** The receivers of events, read for each event: another node may have changed them. */
export const storedReceivers: Receivers = {
  *of(event: Pick<NewEvent, 'type' | 'accountId'>): Step<EventReceivers> {
    const owner = { accountId: event.accountId }
    const found = receiversOf(yield* readReceivers(owner), event)
    if (found.webhookIds.length + found.mailed.length === 0) return found
    yield* takeLock('events')
    // One of them may have been removed while this step waited.
    return receiversOf(yield* readReceivers(owner), event)
  },
  *isFull(webhookId) {
    return (yield* countWaiting(webhookId)) >= QUEUE_MAX
  },
  addWaiting() {},
  forget() {},
}
