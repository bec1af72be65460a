import { GatewayError } from '../../../domain/errors.ts'
import type { NewEvent } from '../../../domain/webhooks/event.ts'
import type { Webhook, WebhookMessage, WebhookPatch } from '../../../domain/webhooks/webhook.ts'
import type { Editor } from '../../../gateway/ports/access/accounts.ts'
import { WEBHOOKS_MAX, type NewWebhook, type Webhooks } from '../../../gateway/ports/events/webhooks.ts'
import { appendAudit } from '../access/audit-log.ts'
import { cursorOf, pageOf, readCursor, ROW_ID_MAX } from '../cursors.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { all, first, run, type StepRunner, type Step } from '../steps.ts'
import { messageFrom, webhookFrom, type MessageRow, type WebhookRow } from '../rows/webhook-rows.ts'
import type { Events } from './events.ts'
import { QUEUE_MAX, type Receivers } from './receivers.ts'

const WEBHOOKS = 'SELECT * FROM webhooks WHERE removed_at_ms IS NULL'
const MESSAGES = `SELECT webhook_messages.*, webhook_events.public_id AS event_public_id, type, at_ms AS event_at_ms
  FROM webhook_messages JOIN webhook_events ON webhook_events.id = event_id`

/** A line of the audit log about a change of a webhook. */
type WebhookChange = { readonly action: string; readonly subject: string; readonly detail?: string }

/** A secret is bound to this text, so that it cannot be moved to another webhook. */
export function secretOwner(publicId: string): string {
  return `webhook ${publicId}`
}

/** The webhooks of one node. */
export class StoredWebhooks implements Webhooks {
  readonly #stepRunner: StepRunner
  readonly #secretBox: SecretBox
  readonly #receivers: Receivers
  readonly #events: Events

  constructor(parts: {
    readonly stepRunner: StepRunner
    readonly secretBox: SecretBox
    readonly receivers: Receivers
    readonly events: Events
  }) {
    this.#stepRunner = parts.stepRunner
    this.#secretBox = parts.secretBox
    this.#receivers = parts.receivers
    this.#events = parts.events
  }

  create(request: NewWebhook): Promise<Webhook> {
    const { publicId, secret, by } = request
    const sealed = this.#secretBox.seal(secret, secretOwner(publicId))
    return this.#change(publicId, by, () => insertWebhook(request, sealed))
  }

  find(publicId: string): Promise<Webhook | undefined> {
    return this.#stepRunner.read(function* () {
      const row = yield* findRow(publicId)
      return row && webhookFrom(row)
    })
  }

  list(accountId?: number): Promise<readonly Webhook[]> {
    return this.#stepRunner.read(function* () {
      const rows =
        accountId === undefined ? yield* all<WebhookRow>(`${WEBHOOKS} ORDER BY id`) : yield* rowsOf(accountId)
      return rows.map(webhookFrom)
    })
  }

  update(publicId: string, patch: WebhookPatch, by: Editor): Promise<Webhook> {
    return this.#change(publicId, by, () => updateWebhook(publicId, patch, by.atMs))
  }

  rotate(
    publicId: string,
    { secret, oldEndsAtMs }: Parameters<Webhooks['rotate']>[1],
    by: Editor,
  ): Promise<Webhook> {
    const sealed = this.#secretBox.seal(secret, secretOwner(publicId))
    return this.#change(publicId, by, function* () {
      yield* run(
        'UPDATE webhooks SET old_secret = secret, old_secret_ends_at_ms = ?, secret = ? WHERE id = ?',
        oldEndsAtMs,
        sealed,
        (yield* rowOf(publicId)).id,
      )
      const detail = JSON.stringify({ old_ends_at: new Date(oldEndsAtMs).toISOString() })
      return [{ action: 'webhook.rotate', subject: publicId, detail }]
    })
  }

  remove(publicId: string, by: Editor): Promise<void> {
    const receivers = this.#receivers
    return this.#stepRunner.write('events', function* () {
      const row = yield* findRow(publicId)
      if (row === undefined) return
      yield* endWaiting(row.id, 'the webhook was removed')
      yield* run(
        `UPDATE webhooks SET removed_at_ms = ?, secret = ?, old_secret = NULL, old_secret_ends_at_ms = NULL
          WHERE id = ?`,
        by.atMs,
        new Uint8Array(),
        row.id,
      )
      yield* appendAudit({ ...by, action: 'webhook.remove', subject: publicId })
      receivers.forget()
    })
  }

  sendTest(publicId: string, atMs: number): Promise<WebhookMessage> {
    return this.#stepRunner.write('events', () => this.#sendTest(publicId, atMs))
  }

  *#sendTest(publicId: string, atMs: number): Step<WebhookMessage> {
    const row = yield* rowOf(publicId)
    requireOn(row)
    const { id, account_id: accountId } = row
    yield* this.#requireRoom(Number(id))
    const about = accountId === null ? {} : { accountId: Number(accountId) }
    const event: NewEvent = { type: 'webhook.test', data: { webhook: publicId }, atMs, ...about }
    const messageId = yield* this.#events.emitTo(Number(id), event)
    if (messageId === undefined) throw new Error('The message was not inserted.')
    return yield* messageOf(messageId)
  }

  report(event: NewEvent): Promise<void> {
    return this.#stepRunner.write('events', () => this.#events.emit(event))
  }

  messages(
    webhook: Pick<Webhook, 'id'>,
    page: Parameters<Webhooks['messages']>[1],
  ): ReturnType<Webhooks['messages']> {
    return this.#stepRunner.read(() => messagesPage(webhook, page))
  }

  redeliver(
    { id }: Pick<Webhook, 'id'>,
    messageId: string,
    atMs: number,
  ): Promise<WebhookMessage | undefined> {
    return this.#stepRunner.write('events', () => this.#redeliver(id, messageId, atMs))
  }

  *#redeliver(webhookId: number, messageId: string, atMs: number): Step<WebhookMessage | undefined> {
    const row = yield* first<MessageRow>(`${MESSAGES} WHERE webhook_messages.public_id = ?`, messageId)
    if (row === undefined || Number(row.webhook_id) !== webhookId) return undefined
    const webhook = yield* first<WebhookRow>(`${WEBHOOKS} AND id = ?`, webhookId)
    if (webhook !== undefined) requireOn(webhook)
    const isWaiting = row.state === 'waiting'
    if (!isWaiting) yield* this.#requireRoom(webhookId)
    yield* run(
      "UPDATE webhook_messages SET state = 'waiting', attempts = 0, next_attempt_at_ms = ? WHERE id = ?",
      atMs,
      row.id,
    )
    if (!isWaiting) this.#receivers.addWaiting(webhookId, 1)
    return yield* messageOf(row.id)
  }

  *#requireRoom(webhookId: number): Step<void> {
    if (yield* this.#receivers.isFull(webhookId))
      throw new GatewayError('unavailable', `${QUEUE_MAX} messages wait for this webhook. Try again later.`)
  }

  counts(): Promise<{ readonly waiting: number; readonly dropped: number }> {
    return this.#stepRunner.read(function* () {
      const row = yield* first<{ waiting: bigint; dropped: bigint }>(
        `SELECT (SELECT count(*) FROM webhook_messages WHERE state = 'waiting') AS waiting,
          (SELECT CAST(coalesce(sum(dropped), 0) AS bigint) FROM webhooks) AS dropped`,
      )
      return { waiting: Number(row?.waiting ?? 0n), dropped: Number(row?.dropped ?? 0n) }
    })
  }

  /** Runs a step that changes a webhook, and writes its audit lines. */
  #change(publicId: string, by: Editor, step: () => Step<readonly WebhookChange[]>): Promise<Webhook> {
    const receivers = this.#receivers
    return this.#stepRunner.write('events', function* () {
      for (const line of yield* step()) yield* appendAudit({ ...by, ...line })
      receivers.forget()
      return webhookFrom(yield* rowOf(publicId))
    })
  }
}

function* insertWebhook(
  { publicId, accountId, url, events, note, by }: NewWebhook,
  sealed: Uint8Array,
): Step<readonly WebhookChange[]> {
  if ((yield* rowsOf(accountId)).length >= WEBHOOKS_MAX)
    throw new GatewayError(
      'too_many_webhooks',
      `There are already ${WEBHOOKS_MAX} webhooks of this owner. Remove one first.`,
    )
  yield* run(
    `INSERT INTO webhooks (public_id, account_id, url, events, note, secret, created_at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    publicId,
    accountId ?? null,
    url,
    JSON.stringify(events),
    note,
    sealed,
    by.atMs,
  )
  const detail = JSON.stringify({ host: new URL(url).host, events })
  return [{ action: 'webhook.create', subject: publicId, detail }]
}

function* updateWebhook(publicId: string, patch: WebhookPatch, atMs: number): Step<readonly WebhookChange[]> {
  const webhook = webhookFrom(yield* rowOf(publicId))
  const { id, off } = webhook
  const { url = webhook.url, events = webhook.events, note = webhook.note, isOn = off === undefined } = patch
  const changed = {
    ...(url !== webhook.url && { host: new URL(url).host }),
    ...(JSON.stringify(events) !== JSON.stringify(webhook.events) && { events }),
    ...(note !== webhook.note && { note }),
  }
  const isChanged = Object.keys(changed).length > 0
  if (isChanged)
    yield* run(
      'UPDATE webhooks SET url = ?, events = ?, note = ? WHERE id = ?',
      url,
      JSON.stringify(events),
      note,
      id,
    )
  const isSwitched = isOn !== (off === undefined)
  if (isSwitched) yield* isOn ? switchOn(id) : switchOff(id, atMs)
  const change = { action: 'webhook.change', subject: publicId, detail: JSON.stringify(changed) }
  const flip = { action: isOn ? 'webhook.switch_on' : 'webhook.switch_off', subject: publicId }
  return [...(isChanged ? [change] : []), ...(isSwitched ? [flip] : [])]
}

function switchOn(id: number): Step<void> {
  return run(
    'UPDATE webhooks SET off_at_ms = NULL, off_reason = NULL, failing_since_ms = NULL WHERE id = ?',
    id,
  )
}

function* switchOff(id: number, atMs: number): Step<void> {
  yield* run("UPDATE webhooks SET off_at_ms = ?, off_reason = 'operator' WHERE id = ?", atMs, id)
  yield* endWaiting(id, 'the webhook was switched off')
}

/** Ends the messages that wait for a webhook as failed. */
export function endWaiting(webhookId: number | bigint, problem: string): Step<void> {
  return run(
    `UPDATE webhook_messages SET state = 'failed', next_attempt_at_ms = NULL, problem = ?
      WHERE webhook_id = ? AND state = 'waiting'`,
    problem,
    webhookId,
  )
}

function* messagesPage(
  { id }: Pick<Webhook, 'id'>,
  { limit, cursor, state }: Parameters<Webhooks['messages']>[1],
) {
  const before = cursor === undefined ? ROW_ID_MAX : readCursor(cursor).value
  const inState = state === undefined ? '' : 'AND state = ?'
  const rows = yield* all<MessageRow>(
    `${MESSAGES} WHERE webhook_id = ? AND webhook_messages.id < ? ${inState}
      ORDER BY webhook_messages.id DESC LIMIT ?`,
    id,
    before,
    ...(state === undefined ? [] : [state]),
    limit + 1,
  )
  const { shown, ...next } = pageOf(rows, limit, ({ id }) => cursorOf(id))
  return { messages: shown.map(messageFrom), ...next }
}

/** The webhooks of an account, or of the operator. */
function rowsOf(accountId: number | undefined): Step<readonly WebhookRow[]> {
  return accountId === undefined
    ? all(`${WEBHOOKS} AND account_id IS NULL ORDER BY id`)
    : all(`${WEBHOOKS} AND account_id = ? ORDER BY id`, accountId)
}

function findRow(publicId: string): Step<WebhookRow | undefined> {
  return first(`${WEBHOOKS} AND public_id = ?`, publicId)
}

function* rowOf(publicId: string): Step<WebhookRow> {
  const row = yield* findRow(publicId)
  if (row === undefined) throw new RangeError(`There is no webhook ${publicId}.`)
  return row
}

function* messageOf(id: bigint): Step<WebhookMessage> {
  const row = yield* first<MessageRow>(`${MESSAGES} WHERE webhook_messages.id = ?`, id)
  if (row === undefined) throw new Error(`There is no message ${id}.`)
  return messageFrom(row)
}

/** A message to a webhook that is off would wait without end. */
function requireOn({ public_id: publicId, off_at_ms: offAtMs }: WebhookRow): void {
  if (offAtMs === null) return
  const at = new Date(Number(offAtMs)).toISOString()
  throw new GatewayError(
    'webhook_off',
    `${publicId} has been off since ${at}, so it gets no messages. Switch it on first.`,
  )
}
