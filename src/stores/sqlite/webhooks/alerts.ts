import type { Database, Statement } from 'bun:sqlite'
import { keyExpiringEvent } from '../../../domain/webhooks/life-events.ts'
import {
  providerEvent,
  type ProviderNews,
  type ToldProvider,
} from '../../../domain/webhooks/provider-alert.ts'
import type { Alerts } from '../../../gateway/ports/alerts.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { WebhookEvents } from './webhook-events.ts'

/**
 * `Alerts` of one node. What was told is written in the step of its event, so a restart repeats and forgets nothing.
 */
export class SqliteAlerts implements Alerts {
  readonly #groupCommit: GroupCommit
  readonly #events: WebhookEvents
  readonly #sql: ReturnType<typeof statements>

  constructor(parts: {
    readonly database: Database
    readonly groupCommit: GroupCommit
    readonly webhookEvents: WebhookEvents
  }) {
    this.#groupCommit = parts.groupCommit
    this.#events = parts.webhookEvents
    this.#sql = statements(parts.database)
  }

  async tellExpiringKeys({
    nowMs,
    untilMs,
    limit,
  }: Parameters<Alerts['tellExpiringKeys']>[0]): Promise<number> {
    // Times in settings sort as text.
    const untold = () =>
      this.#sql.expiring.all(new Date(nowMs).toISOString(), new Date(untilMs).toISOString(), limit)
    // Most calls find none and need no commit.
    if (untold().length === 0) return 0
    return this.#groupCommit.run(() => {
      // Read again, because a step before this one may have told or revoked some.
      const keys = untold()
      for (const { row_id: rowId, account_id: accountId, id, name, expires_at: expiresAt } of keys) {
        this.#sql.writeExpiry.run(rowId, expiresAt)
        this.#events.emit(keyExpiringEvent({ accountId: Number(accountId), id, name, expiresAt }, nowMs))
      }
      return keys.length
    })
  }

  async toldProviders(): Promise<readonly ToldProvider[]> {
    return this.#sql.providers.all().map(({ provider, models, at_ms: atMs }) => ({
      provider,
      models: JSON.parse(models) as readonly string[],
      atMs: Number(atMs),
    }))
  }

  tellProvider(news: ProviderNews): Promise<void> {
    const { type, provider, models, atMs } = news
    return this.#groupCommit.run(() => {
      if (type === 'provider.failing') this.#sql.writeProvider.run(provider, JSON.stringify(models), atMs)
      else this.#sql.removeProvider.run(provider)
      this.#events.emit(providerEvent(news))
    })
  }
}

type ExpiringRow = { row_id: bigint; account_id: bigint; id: string; name: string; expires_at: string }
type ProviderRow = { provider: string; models: string; at_ms: bigint }

/** The expression of the index `api_keys_by_expiry`. Settings that were damaged count as none. */
const EXPIRY = "CASE WHEN json_valid(settings) THEN settings ->> '$.expires_at' END"

function statements(database: Database) {
  return {
    expiring: database.prepare<ExpiringRow, [string, string, number]>(
      `SELECT api_keys.id AS row_id, account_id, public_id AS id, name, ${EXPIRY} AS expires_at FROM api_keys
        WHERE settings IS NOT NULL AND ${EXPIRY} > ?1 AND ${EXPIRY} <= ?2
          AND revoked_at_ms IS NULL AND disabled_at_ms IS NULL
          AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.id = account_id AND closed_at_ms IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM expiry_alerts WHERE api_key_id = api_keys.id AND expires_at = ${EXPIRY})
        ORDER BY ${EXPIRY} LIMIT ?3`,
    ),
    writeExpiry: database.prepare(
      'INSERT OR REPLACE INTO expiry_alerts (api_key_id, expires_at) VALUES (?, ?)',
    ),
    providers: database.prepare<ProviderRow, []>('SELECT provider, models, at_ms FROM provider_alerts'),
    writeProvider: database.prepare(
      'INSERT OR REPLACE INTO provider_alerts (provider, models, at_ms) VALUES (?, ?, ?)',
    ),
    removeProvider: database.prepare('DELETE FROM provider_alerts WHERE provider = ?'),
  } satisfies Record<string, Statement>
}
