import { eventBody, type EventAccount, type NewEvent } from '../../../domain/webhooks/event.ts'
import { first, run, type Step } from '../steps.ts'
import { newEventId } from '../rows/webhook-rows.ts'
import { queueMails } from './mail-recipients.ts'
import type { EventReceivers, Receivers } from './receivers.ts'

/**
 * Records events with their messages and mails, inside the step of what happened: a process that is killed loses all of
 * them or none. An event without receivers is not recorded.
 */
export class Events {
  readonly #receivers: Receivers

  constructor(receivers: Receivers) {
    this.#receivers = receivers
  }

  /** Records an event for all webhooks that asked for it, and for mails. */
  *emit(event: NewEvent): Step<void> {
    const receivers = yield* this.#receivers.of(event)
    if (receivers.webhookIds.length + receivers.mailed.length > 0) yield* this.#record(event, receivers)
  }

  /** Records an event for one webhook, whatever it asked for. Returns the row id of its message. */
  emitTo(webhookId: number, event: NewEvent): Step<bigint | undefined> {
    return this.#record(event, { webhookIds: [webhookId], mailed: [] })
  }

  /** Returns the row id of the last message. Undefined if there is none. */
  *#record(event: NewEvent, { webhookIds, mailed }: EventReceivers): Step<bigint | undefined> {
    const { type, atMs, once } = event
    const publicId = newEventId('evt', atMs)
    const body = eventBody(publicId, event, yield* accountOf(event))
    const row = yield* first<{ id: bigint }>(
      `INSERT INTO webhook_events (public_id, type, body, at_ms, once) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (type, once) DO NOTHING RETURNING id`,
      publicId,
      type,
      body,
      atMs,
      once ?? null,
    )
    // The event was recorded before.
    if (row === undefined) return undefined
    yield* queueMails(mailed, { id: row.id, type, atMs })
    let last: bigint | undefined
    for (const id of webhookIds) last = (yield* this.#queueMessage(id, row.id, atMs)) ?? last
    return last
  }

  *#queueMessage(webhookId: number, eventId: bigint, atMs: number): Step<bigint | undefined> {
    if (yield* this.#receivers.isFull(webhookId)) {
      yield* run('UPDATE webhooks SET dropped = dropped + 1 WHERE id = ?', webhookId)
      return undefined
    }
    const message = yield* first<{ id: bigint }>(
      `INSERT INTO webhook_messages (public_id, webhook_id, event_id, state, next_attempt_at_ms)
        VALUES (?, ?, ?, 'waiting', ?) RETURNING id`,
      newEventId('msg', atMs),
      webhookId,
      eventId,
      atMs,
    )
    this.#receivers.addWaiting(webhookId, 1)
    return message?.id
  }
}

function* accountOf({ accountId }: NewEvent): Step<EventAccount | undefined> {
  if (accountId === undefined) return undefined
  return yield* first('SELECT public_id AS id, name FROM accounts WHERE id = ?', accountId)
}
