import type { Database, Statement } from 'bun:sqlite'
import { GatewayError } from '../../../domain/errors.ts'
import type { NewEvent } from '../../../domain/webhooks/event.ts'
import type { Webhook, WebhookMessage, WebhookPatch } from '../../../domain/webhooks/webhook.ts'
import type { Editor } from '../../../gateway/ports/accounts.ts'
import { WEBHOOKS_MAX, type NewWebhook, type Webhooks } from '../../../gateway/ports/webhooks.ts'
import { cursorOf, readCursor, ROW_ID_MAX } from '../../books/cursors.ts'
import { messageFrom, webhookFrom, type MessageRow, type WebhookRow } from '../../books/webhook-rows.ts'
import type { SqliteAuditLog } from '../audit-log.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { SecretBox } from '../../books/secrets/secret-box.ts'
import { QUEUE_MAX, type WebhookEvents } from './webhook-events.ts'

type Parts = {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly auditLog: SqliteAuditLog
  readonly secretBox: SecretBox
  readonly webhookEvents: WebhookEvents
}

/** What a secret is bound to, so that it cannot be moved to another webhook. */
export function secretOwner(publicId: string): string {
  return `webhook ${publicId}`
}

/** The webhooks of one node. */
export class SqliteWebhooks implements Webhooks {
  readonly #parts: Parts
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = statements(parts.database)
  }

  create({ publicId, accountId, url, events, note, secret, by }: NewWebhook): Promise<Webhook> {
    const sealed = this.#parts.secretBox.seal(secret, secretOwner(publicId))
    return this.#change(by, () => {
      const owned = this.#sql.all
        .all()
        .filter(({ account_id }) => Number(account_id ?? 0) === (accountId ?? 0))
      if (owned.length >= WEBHOOKS_MAX)
        throw new GatewayError(
          'too_many_webhooks',
          `There are already ${WEBHOOKS_MAX} webhooks of this owner. Remove one first.`,
        )
      const list = JSON.stringify(events)
      this.#sql.insert.run(publicId, accountId ?? null, url, list, note, sealed, by.atMs)
      const detail = JSON.stringify({ host: new URL(url).host, events })
      return { lines: [{ action: 'webhook.create', subject: publicId, detail }], publicId }
    })
  }

  async find(publicId: string): Promise<Webhook | undefined> {
    const row = this.#sql.byPublicId.get(publicId)
    return row === null ? undefined : webhookFrom(row)
  }

  async list(accountId?: number): Promise<readonly Webhook[]> {
    const webhooks = this.#sql.all.all().map(webhookFrom)
    return accountId === undefined ? webhooks : webhooks.filter(webhook => webhook.accountId === accountId)
  }

  update(publicId: string, patch: WebhookPatch, by: Editor): Promise<Webhook> {
    return this.#change(by, () => {
      const webhook = webhookFrom(this.#row(publicId))
      const { id, off } = webhook
      const {
        url = webhook.url,
        events = webhook.events,
        note = webhook.note,
        isOn = off === undefined,
      } = patch
      const changed = {
        ...(url !== webhook.url && { host: new URL(url).host }),
        ...(JSON.stringify(events) !== JSON.stringify(webhook.events) && { events }),
        ...(note !== webhook.note && { note }),
      }
      const isChanged = Object.keys(changed).length > 0
      if (isChanged) this.#sql.change.run(url, JSON.stringify(events), note, id)
      const isSwitched = isOn !== (off === undefined)
      if (isSwitched && isOn) this.#sql.switchOn.run(id)
      if (isSwitched && !isOn) {
        this.#sql.switchOff.run(by.atMs, id)
        this.#sql.endWaiting.run('the webhook was switched off', id)
      }
      const change = { action: 'webhook.change', subject: publicId, detail: JSON.stringify(changed) }
      const flip = { action: isOn ? 'webhook.switch_on' : 'webhook.switch_off', subject: publicId }
      return { lines: [...(isChanged ? [change] : []), ...(isSwitched ? [flip] : [])], publicId }
    })
  }

  rotate(
    publicId: string,
    { secret, oldEndsAtMs }: Parameters<Webhooks['rotate']>[1],
    by: Editor,
  ): Promise<Webhook> {
    const sealed = this.#parts.secretBox.seal(secret, secretOwner(publicId))
    return this.#change(by, () => {
      this.#sql.rotate.run(oldEndsAtMs, sealed, this.#row(publicId).id)
      const detail = JSON.stringify({ old_ends_at: new Date(oldEndsAtMs).toISOString() })
      return { lines: [{ action: 'webhook.rotate', subject: publicId, detail }], publicId }
    })
  }

  remove(publicId: string, { actor, atMs }: Editor): Promise<void> {
    const { groupCommit, auditLog, webhookEvents } = this.#parts
    return groupCommit.run(() => {
      const row = this.#sql.byPublicId.get(publicId)
      if (row === null) return
      this.#sql.endWaiting.run('the webhook was removed', row.id)
      this.#sql.remove.run(atMs, row.id)
      auditLog.append({ action: 'webhook.remove', subject: publicId, actor, atMs })
      webhookEvents.forget()
    })
  }

  sendTest(publicId: string, atMs: number): Promise<WebhookMessage> {
    const { groupCommit, webhookEvents } = this.#parts
    return groupCommit.run(() => {
      const row = this.#row(publicId)
      requireOn(row)
      const { id, account_id: accountId } = row
      const about = accountId === null ? {} : { accountId: Number(accountId) }
      const event: NewEvent = { type: 'webhook.test', data: { webhook: publicId }, atMs, ...about }
      if (webhookEvents.isFull(Number(id))) throw fullQueue()
      const rowId = webhookEvents.emitTo(Number(id), event)
      return messageFrom(this.#message(rowId))
    })
  }

  report(event: NewEvent): Promise<void> {
    return this.#parts.groupCommit.run(() => this.#parts.webhookEvents.emit(event))
  }

  async messages(
    { id }: Pick<Webhook, 'id'>,
    { limit, cursor, state }: Parameters<Webhooks['messages']>[1],
  ): ReturnType<Webhooks['messages']> {
    const before = cursor === undefined ? ROW_ID_MAX : readCursor(cursor).value
    const rows = this.#sql.messages.all({ id, before, state: state ?? null, limit: limit + 1 })
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const hasMore = rows.length > limit && last !== undefined
    return { messages: shown.map(messageFrom), ...(hasMore ? { next: cursorOf(last.id) } : {}) }
  }

  redeliver(
    { id }: Pick<Webhook, 'id'>,
    messageId: string,
    atMs: number,
  ): Promise<WebhookMessage | undefined> {
    return this.#parts.groupCommit.run(() => {
      const row = this.#sql.messageByPublicId.get(messageId)
      if (row === null || Number(row.webhook_id) !== id) return undefined
      const webhook = this.#sql.byId.get(id)
      if (webhook !== null) requireOn(webhook)
      if (row.state !== 'waiting' && this.#parts.webhookEvents.isFull(id)) throw fullQueue()
      this.#sql.redeliver.run(atMs, row.id)
      if (row.state !== 'waiting') this.#parts.webhookEvents.addWaiting(id, 1)
      return messageFrom(this.#message(row.id))
    })
  }

  async counts(): Promise<{ readonly waiting: number; readonly dropped: number }> {
    const { waiting = 0n, dropped = 0n } = this.#sql.counts.get() ?? {}
    return { waiting: Number(waiting), dropped: Number(dropped) }
  }

  /** Runs a step that changes a webhook, and writes its audit lines. */
  #change(
    { actor, atMs }: Editor,
    step: () => {
      readonly publicId: string
      readonly lines: readonly {
        readonly action: string
        readonly subject: string
        readonly detail?: string
      }[]
    },
  ): Promise<Webhook> {
    const { groupCommit, auditLog, webhookEvents } = this.#parts
    return groupCommit.run(() => {
      const { publicId, lines } = step()
      for (const line of lines) auditLog.append({ ...line, actor, atMs })
      webhookEvents.forget()
      return webhookFrom(this.#row(publicId))
    })
  }

  #row(publicId: string): WebhookRow {
    const row = this.#sql.byPublicId.get(publicId)
    if (row === null) throw new RangeError(`There is no webhook ${publicId}.`)
    return row
  }

  #message(id: bigint | undefined): MessageRow {
    const row = id === undefined ? null : this.#sql.messageById.get(id)
    if (row === null) throw new Error('The message was not inserted.')
    return row
  }
}

function fullQueue(): GatewayError {
  return new GatewayError('unavailable', `${QUEUE_MAX} messages wait for this webhook. Try again later.`)
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

function statements(database: Database) {
  const webhooks = 'SELECT * FROM webhooks WHERE removed_at_ms IS NULL'
  const messages = `SELECT webhook_messages.*, webhook_events.public_id AS event_public_id, type, at_ms AS event_at_ms
    FROM webhook_messages JOIN webhook_events ON webhook_events.id = event_id`
  return {
    byPublicId: database.prepare<WebhookRow, [string]>(`${webhooks} AND public_id = ?`),
    byId: database.prepare<WebhookRow, [number]>(`${webhooks} AND id = ?`),
    all: database.prepare<WebhookRow, []>(`${webhooks} ORDER BY id`),
    insert: database.prepare(
      `INSERT INTO webhooks (public_id, account_id, url, events, note, secret, created_at_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    change: database.prepare('UPDATE webhooks SET url = ?, events = ?, note = ? WHERE id = ?'),
    switchOn: database.prepare(
      'UPDATE webhooks SET off_at_ms = NULL, off_reason = NULL, failing_since_ms = NULL WHERE id = ?',
    ),
    switchOff: database.prepare("UPDATE webhooks SET off_at_ms = ?, off_reason = 'operator' WHERE id = ?"),
    rotate: database.prepare(
      'UPDATE webhooks SET old_secret = secret, old_secret_ends_at_ms = ?, secret = ? WHERE id = ?',
    ),
    remove: database.prepare(
      `UPDATE webhooks SET removed_at_ms = ?, secret = x'', old_secret = NULL, old_secret_ends_at_ms = NULL
        WHERE id = ?`,
    ),
    endWaiting: database.prepare(
      `UPDATE webhook_messages SET state = 'failed', next_attempt_at_ms = NULL, problem = ?
        WHERE webhook_id = ? AND state = 'waiting'`,
    ),
    messageById: database.prepare<MessageRow, [bigint]>(`${messages} WHERE webhook_messages.id = ?`),
    messageByPublicId: database.prepare<MessageRow, [string]>(
      `${messages} WHERE webhook_messages.public_id = ?`,
    ),
    messages: database.prepare<
      MessageRow,
      { id: number; before: bigint; state: string | null; limit: number }
    >(
      `${messages} WHERE webhook_id = $id AND webhook_messages.id < $before AND ($state IS NULL OR state = $state)
        ORDER BY webhook_messages.id DESC LIMIT $limit`,
    ),
    redeliver: database.prepare(
      "UPDATE webhook_messages SET state = 'waiting', attempts = 0, next_attempt_at_ms = ? WHERE id = ?",
    ),
    counts: database.prepare<{ waiting: bigint; dropped: bigint }, []>(
      `SELECT (SELECT count(*) FROM webhook_messages WHERE state = 'waiting') AS waiting,
        (SELECT ifnull(sum(dropped), 0) FROM webhooks) AS dropped`,
    ),
  } satisfies Record<string, Statement>
}
