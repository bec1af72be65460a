import type { Database, Statement } from 'bun:sqlite'
import { formatId, type IdPrefix } from '../../../domain/ids.ts'
import {
  eventBody,
  type EventAccount,
  type EventType,
  type NewEvent,
} from '../../../domain/webhooks/event.ts'
import { eventsFrom } from '../../books/webhook-rows.ts'
import type { MailRecipients } from '../mail/mail-recipients.ts'
import type { Transactions } from '../transactions.ts'

/**
 * The messages that wait for one webhook. More are dropped and counted: a receiver that is down for a day must not fill
 * the disk.
 */
export const QUEUE_MAX = 10_000

const SEQUENCE_BITS = 16n
const GATEWAY = 0

type Receiver = { readonly id: number; readonly accountId: number; readonly events: ReadonlySet<EventType> }

/**
 * Records events with their messages, inside the step of what happened: a process that is killed loses both or none.
 * The webhooks that are on are kept in memory, so an event that none asked for costs one look at a map.
 */
export class WebhookEvents {
  readonly #sql: ReturnType<typeof statements>
  readonly #mailRecipients: MailRecipients
  /** The webhooks that are on, by their accounts; 0 is the operator. Undefined if they must be read. */
  #receivers: ReadonlyMap<number, readonly Receiver[]> | undefined
  /**
   * The messages that wait for each webhook, as far as they were counted. Counting a long queue takes a millisecond,
   * and a receiver that is down must not slow the steps of requests.
   */
  readonly #waiting = new Map<number, number>()

  constructor(parts: {
    readonly database: Database
    readonly transactions: Transactions
    readonly mailRecipients: MailRecipients
  }) {
    this.#sql = statements(parts.database)
    this.#mailRecipients = parts.mailRecipients
    parts.transactions.join({ afterRollback: () => this.forget() })
  }

  /** Reads the webhooks and their queues again at the next event. Called by each step that changes or removes some. */
  forget(): void {
    this.#receivers = undefined
    this.#waiting.clear()
  }

  /** Inside a step: a message began to wait (1), or no longer does (-1). */
  addWaiting(webhookId: number, change: 1 | -1): void {
    const waiting = this.#waiting.get(webhookId)
    if (waiting !== undefined) this.#waiting.set(webhookId, waiting + change)
  }

  /**
   * Inside a step: records an event for all webhooks that asked for it, and for mails. Without any, it writes nothing.
   */
  emit(event: NewEvent): void {
    const of = (accountId: number) =>
      (this.#read().get(accountId) ?? []).filter(({ events }) => events.has(event.type))
    const { accountId = GATEWAY } = event
    const receivers = accountId === GATEWAY ? of(GATEWAY) : [...of(GATEWAY), ...of(accountId)]
    this.#insert(
      event,
      receivers.map(({ id }) => id),
      this.#mailRecipients.of(event),
    )
  }

  /** Inside a step: records an event for one webhook, whatever it asked for. Returns the row id of its message. */
  emitTo(webhookId: number, event: NewEvent): bigint | undefined {
    return this.#insert(event, [webhookId])
  }

  /** Returns the row id of the last message. Undefined if there is none. */
  #insert(
    event: NewEvent,
    webhookIds: readonly number[],
    mailed: ReturnType<MailRecipients['of']> = [],
  ): bigint | undefined {
    if (webhookIds.length + mailed.length === 0) return undefined
    const publicId = newEventId('evt', event.atMs)
    const account = event.accountId === undefined ? null : this.#sql.account.get(event.accountId)
    const body = eventBody(publicId, event, account ?? undefined)
    const row = this.#sql.insertEvent.get(publicId, event.type, body, event.atMs, event.once ?? null)
    // The event was recorded before.
    if (row === null) return undefined
    this.#mailRecipients.queue(mailed, { id: row.id, type: event.type, atMs: event.atMs })
    let last: bigint | undefined
    for (const id of webhookIds) {
      if (this.isFull(id)) this.#sql.drop.run(id)
      else {
        last = this.#sql.insertMessage.get(newEventId('msg', event.atMs), id, row.id, event.atMs)?.id
        this.addWaiting(id, 1)
      }
    }
    return last
  }

  /** Whether the queue of a webhook has no room for another message. */
  isFull(webhookId: number): boolean {
    const known = this.#waiting.get(webhookId)
    const waiting = known ?? Number(this.#sql.waiting.get(webhookId, QUEUE_MAX)?.count ?? 0n)
    if (known === undefined) this.#waiting.set(webhookId, waiting)
    return waiting >= QUEUE_MAX
  }

  #read(): ReadonlyMap<number, readonly Receiver[]> {
    return (this.#receivers ??= Map.groupBy(this.#sql.receivers.all().map(receiverFrom), of => of.accountId))
  }
}

type ReceiverRow = { id: bigint; account_id: bigint | null; events: string }

function receiverFrom({ id, account_id: accountId, events }: ReceiverRow): Receiver {
  return { id: Number(id), accountId: Number(accountId ?? GATEWAY), events: new Set(eventsFrom(events)) }
}

/** An id that begins with the time. Steps have no source of ids, and these do not have to grow. */
export function newEventId(prefix: IdPrefix, atMs: number): string {
  const [low = 0n, tail = 0n] = crypto.getRandomValues(new BigInt64Array(2))
  const sequence = BigInt.asUintN(Number(SEQUENCE_BITS), low)
  return formatId(prefix, { key: (BigInt(atMs) << SEQUENCE_BITS) | sequence, tail })
}

function statements(database: Database) {
  return {
    receivers: database.prepare<ReceiverRow, []>(
      'SELECT id, account_id, events FROM webhooks WHERE off_at_ms IS NULL AND removed_at_ms IS NULL ORDER BY id',
    ),
    account: database.prepare<EventAccount, [number]>(
      'SELECT public_id AS id, name FROM accounts WHERE id = ?',
    ),
    insertEvent: database.prepare<{ id: bigint }, [string, string, string, number, string | null]>(
      `INSERT INTO webhook_events (public_id, type, body, at_ms, once) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (type, once) DO NOTHING RETURNING id`,
    ),
    insertMessage: database.prepare<{ id: bigint }, [string, number, bigint, number]>(
      `INSERT INTO webhook_messages (public_id, webhook_id, event_id, state, next_attempt_at_ms)
        VALUES (?, ?, ?, 'waiting', ?) RETURNING id`,
    ),
    waiting: database.prepare<{ count: bigint }, [number, number]>(
      `SELECT count(*) AS count FROM
        (SELECT 1 FROM webhook_messages WHERE webhook_id = ? AND state = 'waiting' LIMIT ?)`,
    ),
    drop: database.prepare('UPDATE webhooks SET dropped = dropped + 1 WHERE id = ?'),
  } satisfies Record<string, Statement>
}
