import type { Database, Statement } from 'bun:sqlite'
import { afterAttempt, type Attempt } from '../../../domain/webhooks/webhook.ts'
import type { DueMessage, WebhookQueue } from '../../../gateway/ports/webhooks.ts'
import type { SqliteAuditLog } from '../audit-log.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { SecretBox } from '../../books/secrets/secret-box.ts'
import type { WebhookEvents } from './webhook-events.ts'
import { secretOwner } from './webhooks.ts'

type Parts = {
  readonly database: Database
  readonly groupCommit: GroupCommit
  readonly auditLog: SqliteAuditLog
  readonly secretBox: SecretBox
  readonly webhookEvents: WebhookEvents
}

/** The messages to deliver, for one node. */
export class SqliteWebhookQueue implements WebhookQueue {
  readonly #parts: Parts
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = statements(parts.database)
  }

  async due(nowMs: number, { limit, busy }: Parameters<WebhookQueue['due']>[1]): Promise<readonly number[]> {
    const rows = this.#sql.due.all(nowMs, limit + busy.size)
    return rows
      .map(({ id }) => Number(id))
      .filter(id => !busy.has(id))
      .slice(0, limit)
  }

  async next(webhookId: number, nowMs: number): Promise<DueMessage | undefined> {
    const row = this.#sql.next.get(webhookId, nowMs)
    if (row === null) return undefined
    const owner = secretOwner(row.webhook)
    const isOldOver = row.old_secret_ends_at_ms === null || Number(row.old_secret_ends_at_ms) <= nowMs
    const sealed = [row.secret, ...(row.old_secret === null || isOldOver ? [] : [row.old_secret])]
    const secrets = sealed.flatMap(bytes => this.#parts.secretBox.open(bytes, owner) ?? [])
    return {
      id: Number(row.id),
      publicId: row.public_id,
      url: row.url,
      body: row.body,
      secrets,
      isOperators: row.account_id === null,
    }
  }

  record({ id }: Pick<DueMessage, 'id'>, attempt: Attempt): Promise<void> {
    const { groupCommit, auditLog, webhookEvents } = this.#parts
    return groupCommit.run(() => {
      const row = this.#sql.attempted.get(id)
      if (row === null) return
      const earlier = {
        attempts: Number(row.attempts),
        failingSinceMs: row.failing_since_ms === null ? null : Number(row.failing_since_ms),
      }
      const after = afterAttempt(earlier, attempt)
      const { atMs, durationMs, status, problem } = attempt
      const { state, attempts, nextAttemptAtMs } = after
      this.#sql.record.run(
        state,
        attempts,
        nextAttemptAtMs,
        atMs,
        Math.round(durationMs),
        status,
        problem,
        id,
      )
      if (state !== 'waiting') webhookEvents.addWaiting(Number(row.webhook_id), -1)
      if (after.failingSinceMs !== earlier.failingSinceMs)
        this.#sql.setFailing.run(after.failingSinceMs, row.webhook_id)
      if (!after.isSwitchedOff) return
      this.#sql.switchOff.run(atMs, row.webhook_id)
      this.#sql.endWaiting.run(row.webhook_id)
      auditLog.append({ actor: 'gateway', action: 'webhook.switch_off', subject: row.webhook, atMs })
      // Its own queue is closed, and another one of the operator is told.
      webhookEvents.forget()
      const data = { webhook: row.webhook, url: row.url, problem }
      webhookEvents.emit({ type: 'webhook.switched_off', data, atMs })
    })
  }

  removeBefore(beforeMs: number, limit: number): Promise<number> {
    // Most calls remove nothing and need no commit.
    if (this.#sql.oldEvent.get(beforeMs) === null) return Promise.resolve(0)
    const { groupCommit, webhookEvents } = this.#parts
    return groupCommit.run(() => {
      const { changes } = this.#sql.removeEvents.run(beforeMs, limit)
      webhookEvents.forget()
      return changes
    })
  }
}

type DueRow = {
  id: bigint
  public_id: string
  body: string
  webhook: string
  account_id: bigint | null
  url: string
  secret: Uint8Array
  old_secret: Uint8Array | null
  old_secret_ends_at_ms: bigint | null
}

type AttemptedRow = {
  attempts: bigint
  webhook_id: bigint
  webhook: string
  url: string
  failing_since_ms: bigint | null
}

function statements(database: Database) {
  return {
    due: database.prepare<{ id: bigint }, [number, number]>(
      `SELECT webhook_id AS id FROM webhook_messages WHERE state = 'waiting' AND next_attempt_at_ms <= ?
        GROUP BY webhook_id ORDER BY min(next_attempt_at_ms) LIMIT ?`,
    ),
    next: database.prepare<DueRow, [number, number]>(
      `SELECT webhook_messages.id, webhook_messages.public_id, body, webhooks.public_id AS webhook, account_id, url,
          secret, old_secret, old_secret_ends_at_ms
        FROM webhook_messages JOIN webhooks ON webhooks.id = webhook_id
          JOIN webhook_events ON webhook_events.id = event_id
        WHERE webhook_id = ? AND state = 'waiting' AND next_attempt_at_ms <= ?
        ORDER BY next_attempt_at_ms, webhook_messages.id LIMIT 1`,
    ),
    attempted: database.prepare<AttemptedRow, [number]>(
      `SELECT attempts, webhook_id, webhooks.public_id AS webhook, url, failing_since_ms
        FROM webhook_messages JOIN webhooks ON webhooks.id = webhook_id
        WHERE webhook_messages.id = ? AND state = 'waiting'`,
    ),
    record: database.prepare(
      `UPDATE webhook_messages SET state = ?, attempts = ?, next_attempt_at_ms = ?, attempted_at_ms = ?,
        duration_ms = ?, status = ?, problem = ? WHERE id = ?`,
    ),
    setFailing: database.prepare('UPDATE webhooks SET failing_since_ms = ? WHERE id = ?'),
    switchOff: database.prepare("UPDATE webhooks SET off_at_ms = ?, off_reason = 'failing' WHERE id = ?"),
    endWaiting: database.prepare(
      `UPDATE webhook_messages SET state = 'failed', next_attempt_at_ms = NULL, problem = 'the webhook was switched off'
        WHERE webhook_id = ? AND state = 'waiting'`,
    ),
    oldEvent: database.prepare<{ id: bigint }, [number]>(
      'SELECT id FROM webhook_events WHERE at_ms < ? LIMIT 1',
    ),
    removeEvents: database.prepare(
      'DELETE FROM webhook_events WHERE id IN (SELECT id FROM webhook_events WHERE at_ms < ? LIMIT ?)',
    ),
  } satisfies Record<string, Statement>
}
