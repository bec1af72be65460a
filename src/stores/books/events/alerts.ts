import { keyExpiringEvent } from '../../../domain/webhooks/life-events.ts'
import {
  providerEvent,
  type ProviderNews,
  type ToldProvider,
} from '../../../domain/webhooks/provider-alert.ts'
import type { Alerts } from '../../../gateway/ports/events/alerts.ts'
import { all, run, type StepRunner, type Step } from '../steps.ts'
import type { Events } from './events.ts'

type ExpiringRow = { row_id: bigint; account_id: bigint; id: string; name: string; expires_at: string }
type ProviderRow = { provider: string; models: string; at_ms: bigint }

/**
 * `Alerts` of one node. What was told is written in the step of its event, so a restart repeats and forgets nothing.
 */
export class StoredAlerts implements Alerts {
  readonly #stepRunner: StepRunner
  readonly #events: Events
  readonly #keyExpiry: string

  constructor(parts: {
    readonly stepRunner: StepRunner
    readonly events: Events
    /** The expression of the index `api_keys_by_expiry`, which reads JSON as its database does. */
    readonly keyExpiry: string
  }) {
    this.#stepRunner = parts.stepRunner
    this.#events = parts.events
    this.#keyExpiry = parts.keyExpiry
  }

  async tellExpiringKeys(window: Parameters<Alerts['tellExpiringKeys']>[0]): Promise<number> {
    const untold = () => expiringKeys(this.#keyExpiry, window)
    // Most calls find none and need no commit.
    if ((await this.#stepRunner.read(untold)).length === 0) return 0
    // The lock of the steps that revoke and disable keys. The keys are read again, because an earlier step may have
    // told of some.
    return this.#stepRunner.write('access', () => this.#tellKeys(untold(), window.nowMs))
  }

  *#tellKeys(untold: Step<readonly ExpiringRow[]>, nowMs: number): Step<number> {
    const keys = yield* untold
    for (const { row_id: rowId, account_id: accountId, id, name, expires_at: expiresAt } of keys) {
      yield* run(
        `INSERT INTO expiry_alerts (api_key_id, expires_at) VALUES (?, ?)
          ON CONFLICT (api_key_id) DO UPDATE SET expires_at = excluded.expires_at`,
        rowId,
        expiresAt,
      )
      const key = { accountId: Number(accountId), id, name, expiresAt }
      yield* this.#events.emit(keyExpiringEvent(key, nowMs))
    }
    return keys.length
  }

  toldProviders(): Promise<readonly ToldProvider[]> {
    return this.#stepRunner.read(function* () {
      const rows = yield* all<ProviderRow>(
        'SELECT provider, models, at_ms FROM provider_alerts ORDER BY provider',
      )
      return rows.map(({ provider, models, at_ms: atMs }) => ({
        provider,
        models: JSON.parse(models) as readonly string[],
        atMs: Number(atMs),
      }))
    })
  }

  tellProvider(news: ProviderNews): Promise<void> {
    return this.#stepRunner.write('events', () => this.#tellProvider(news))
  }

  *#tellProvider(news: ProviderNews): Step<void> {
    const { type, provider, models, atMs } = news
    if (type === 'provider.failing')
      yield* run(
        `INSERT INTO provider_alerts (provider, models, at_ms) VALUES (?, ?, ?)
          ON CONFLICT (provider) DO UPDATE SET models = excluded.models, at_ms = excluded.at_ms`,
        provider,
        JSON.stringify(models),
        atMs,
      )
    else yield* run('DELETE FROM provider_alerts WHERE provider = ?', provider)
    yield* this.#events.emit(providerEvent(news))
  }
}

/** The keys that can be used, that expire in a window of time, and whose expiry was not told. */
function expiringKeys(
  expiry: string,
  { nowMs, untilMs, limit }: Parameters<Alerts['tellExpiringKeys']>[0],
): Step<readonly ExpiringRow[]> {
  return all(
    `SELECT api_keys.id AS row_id, account_id, public_id AS id, name, ${expiry} AS expires_at FROM api_keys
      WHERE settings IS NOT NULL AND ${expiry} > ? AND ${expiry} <= ?
        AND revoked_at_ms IS NULL AND disabled_at_ms IS NULL
        AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.id = account_id AND closed_at_ms IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM expiry_alerts WHERE api_key_id = api_keys.id AND expires_at = ${expiry})
      ORDER BY ${expiry}, api_keys.id LIMIT ?`,
    // Times in settings sort as text.
    new Date(nowMs).toISOString(),
    new Date(untilMs).toISOString(),
    limit,
  )
}
