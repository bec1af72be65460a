import type { NewEvent } from '../../../domain/webhooks/event.ts'
import type {
  Attempt,
  MessageState,
  Webhook,
  WebhookMessage,
  WebhookPatch,
} from '../../../domain/webhooks/webhook.ts'
import type { Editor } from '../access/accounts.ts'

/** Webhooks, their messages, and events that no other port records. Secrets are encrypted at rest. */
export interface Webhooks {
  /** Throws `too_many_webhooks` if its owner, an account or the operator, has `WEBHOOKS_MAX`. */
  create(request: NewWebhook): Promise<Webhook>

  /** Undefined for one that was removed. */
  find(publicId: string): Promise<Webhook | undefined>

  /** All webhooks in the order of their creation, or those of an account. Removed ones are not listed. */
  list(accountId?: number): Promise<readonly Webhook[]>

  /**
   * Changes a webhook from the next event on. Switching it off ends its waiting messages as failed. Each part that
   * changes gets its audit line; repeating a patch changes nothing. Throws a RangeError for an id that no webhook has.
   */
  update(publicId: string, patch: WebhookPatch, by: Editor): Promise<Webhook>

  /**
   * Gives a webhook another secret. The one before it signs too until `oldEndsAtMs`. Earlier ones end at once. Throws a
   * RangeError for an id that no webhook has.
   */
  rotate(
    publicId: string,
    secret: { readonly secret: string; readonly oldEndsAtMs: number },
    by: Editor,
  ): Promise<Webhook>

  /** Removes a webhook and its secrets, and ends its waiting messages. Repeating it changes nothing. */
  remove(publicId: string, by: Editor): Promise<void>

  /**
   * Queues a test message for one webhook. Throws `webhook_off` for one that is off, `unavailable` if its queue is
   * full, and a RangeError for an id that no webhook has.
   */
  sendTest(publicId: string, atMs: number): Promise<WebhookMessage>

  /**
   * Records an event and queues its messages, in one step. Events about money are recorded in the step that moves it,
   * not here. Repeating it with the same `once` does nothing.
   */
  report(event: NewEvent): Promise<void>

  /** The messages of a webhook, newest first. Throws `invalid_field` for a cursor that the store did not give. */
  messages(
    webhook: Pick<Webhook, 'id'>,
    page: { readonly limit: number; readonly cursor?: string; readonly state?: MessageState },
  ): Promise<{ readonly messages: readonly WebhookMessage[]; readonly next?: string }>

  /**
   * Queues a message again, with the same id and as if it had no attempts. Undefined if the webhook has no such one.
   * Throws what `sendTest` throws.
   */
  redeliver(
    webhook: Pick<Webhook, 'id'>,
    messageId: string,
    atMs: number,
  ): Promise<WebhookMessage | undefined>

  /** The messages that wait, and those that were dropped, of all webhooks together. */
  counts(): Promise<{ readonly waiting: number; readonly dropped: number }>
}

/** The webhooks of one account, and those of the operator. Each event is matched with all of them. */
export const WEBHOOKS_MAX = 20

export type NewWebhook = {
  readonly publicId: string
  readonly accountId: number | undefined
  readonly url: string
  readonly events: Webhook['events']
  readonly note: string
  /** `whsec_…` */
  readonly secret: string
  readonly by: Editor
}

/** The messages to deliver. A message can be delivered more than once, and in any order. */
export interface WebhookQueue {
  /** At most `limit` webhooks with messages whose time has come, other than those of `busy`. */
  due(
    nowMs: number,
    of: { readonly limit: number; readonly busy: ReadonlySet<number> },
  ): Promise<readonly number[]>

  /** The message of a webhook that waits the longest. Undefined if the time of none has come. */
  next(webhookId: number, nowMs: number): Promise<DueMessage | undefined>

  /**
   * Records how an attempt ended, and plans the next one. After three days of failures it switches the webhook off,
   * ends its waiting messages, and tells the operator, in the same step. Does nothing if the message is no longer
   * waiting.
   */
  record(message: Pick<DueMessage, 'id'>, attempt: Attempt): Promise<void>

  /** Removes at most `limit` events from before `beforeMs`, with their messages. Returns their number. */
  removeBefore(beforeMs: number, limit: number): Promise<number>
}

export type DueMessage = {
  /** The store's integer key. */
  readonly id: number
  /** The `webhook-id`. */
  readonly publicId: string
  readonly url: string
  readonly body: string
  /** The secrets that sign: the current one, and that before it until its end. Empty if they cannot be decrypted. */
  readonly secrets: readonly string[]
  /** Whether the webhook belongs to the operator and not to an account. */
  readonly isOperators: boolean
}
