import { afterAttempt, type Attempt } from '../../../domain/webhooks/webhook.ts'
import type { DueMessage, WebhookQueue } from '../../../gateway/ports/events/webhooks.ts'
import { appendAudit } from '../access/audit-log.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { all, first, run, type StepRunner, type Step } from '../steps.ts'
import type { Events } from './events.ts'
import type { Receivers } from './receivers.ts'
import { endWaiting, secretOwner } from './webhooks.ts'

/** The messages to deliver, for one node. */
export class StoredWebhookQueue implements WebhookQueue {
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

  due(nowMs: number, { limit, busy }: Parameters<WebhookQueue['due']>[1]): Promise<readonly number[]> {
    return this.#stepRunner.read(function* () {
      const rows = yield* all<{ id: bigint }>(
        `SELECT webhook_id AS id FROM webhook_messages WHERE state = 'waiting' AND next_attempt_at_ms <= ?
          GROUP BY webhook_id ORDER BY min(next_attempt_at_ms), webhook_id LIMIT ?`,
        nowMs,
        limit + busy.size,
      )
      return rows
        .map(({ id }) => Number(id))
        .filter(id => !busy.has(id))
        .slice(0, limit)
    })
  }

  async next(webhookId: number, nowMs: number): Promise<DueMessage | undefined> {
    const row = await this.#stepRunner.read(() => nextRow(webhookId, nowMs))
    if (row === undefined) return undefined
    const owner = secretOwner(row.webhook)
    const isOldOver = row.old_secret_ends_at_ms === null || Number(row.old_secret_ends_at_ms) <= nowMs
    const sealed = [row.secret, ...(row.old_secret === null || isOldOver ? [] : [row.old_secret])]
    const secrets = sealed.flatMap(bytes => this.#secretBox.open(bytes, owner) ?? [])
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
    return this.#stepRunner.write('events', () => this.#record(id, attempt))
  }

  *#record(id: number, attempt: Attempt): Step<void> {
    const row = yield* attemptedRow(id)
    if (row === undefined) return
    const failingSinceMs = row.failing_since_ms === null ? null : Number(row.failing_since_ms)
    const after = afterAttempt({ attempts: Number(row.attempts), failingSinceMs }, attempt)
    const { state, attempts, nextAttemptAtMs } = after
    const { atMs, durationMs, status, problem } = attempt
    yield* run(
      `UPDATE webhook_messages SET state = ?, attempts = ?, next_attempt_at_ms = ?, attempted_at_ms = ?,
        duration_ms = ?, status = ?, problem = ? WHERE id = ?`,
      state,
      attempts,
      nextAttemptAtMs,
      atMs,
      Math.round(durationMs),
      status,
      problem,
      id,
    )
    if (state !== 'waiting') this.#receivers.addWaiting(Number(row.webhook_id), -1)
    if (after.failingSinceMs !== failingSinceMs)
      yield* run(
        'UPDATE webhooks SET failing_since_ms = ? WHERE id = ?',
        after.failingSinceMs,
        row.webhook_id,
      )
    if (after.isSwitchedOff) yield* this.#switchOff(row, { atMs, problem })
  }

  *#switchOff(
    { webhook_id: id, webhook, url }: AttemptedRow,
    { atMs, problem }: Pick<Attempt, 'atMs' | 'problem'>,
  ): Step<void> {
    yield* run("UPDATE webhooks SET off_at_ms = ?, off_reason = 'failing' WHERE id = ?", atMs, id)
    yield* endWaiting(id, 'the webhook was switched off')
    yield* appendAudit({ actor: 'gateway', action: 'webhook.switch_off', subject: webhook, atMs })
    // Its own queue is closed, and another one of the operator is told.
    this.#receivers.forget()
    yield* this.#events.emit({ type: 'webhook.switched_off', data: { webhook, url, problem }, atMs })
  }

  async removeBefore(beforeMs: number, limit: number): Promise<number> {
    const stepRunner = this.#stepRunner
    const oldest = await stepRunner.read(() =>
      first('SELECT id FROM webhook_events WHERE at_ms < ? LIMIT 1', beforeMs),
    )
    // Most calls remove nothing and need no commit.
    if (oldest === undefined) return 0
    const receivers = this.#receivers
    return stepRunner.write('events', function* () {
      const removed = yield* all(
        `DELETE FROM webhook_events WHERE id IN
          (SELECT id FROM webhook_events WHERE at_ms < ? ORDER BY at_ms LIMIT ?) RETURNING id`,
        beforeMs,
        limit,
      )
      receivers.forget()
      return removed.length
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

function nextRow(webhookId: number, nowMs: number): Step<DueRow | undefined> {
  return first(
    `SELECT webhook_messages.id, webhook_messages.public_id, body, webhooks.public_id AS webhook, account_id, url,
        secret, old_secret, old_secret_ends_at_ms
      FROM webhook_messages JOIN webhooks ON webhooks.id = webhook_id
        JOIN webhook_events ON webhook_events.id = event_id
      WHERE webhook_id = ? AND state = 'waiting' AND next_attempt_at_ms <= ?
      ORDER BY next_attempt_at_ms, webhook_messages.id LIMIT 1`,
    webhookId,
    nowMs,
  )
}

type AttemptedRow = {
  attempts: bigint
  webhook_id: bigint
  webhook: string
  url: string
  failing_since_ms: bigint | null
}

/** The message of an attempt with its webhook. Undefined if it is no longer waiting. */
function attemptedRow(id: number): Step<AttemptedRow | undefined> {
  return first(
    `SELECT attempts, webhook_id, webhooks.public_id AS webhook, url, failing_since_ms
      FROM webhook_messages JOIN webhooks ON webhooks.id = webhook_id
      WHERE webhook_messages.id = ? AND state = 'waiting'`,
    id,
  )
}
