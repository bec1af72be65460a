import type { ProviderNews, ToldProvider } from '../../../domain/webhooks/provider-alert.ts'

/**
 * Events that follow from time or from calls, and not from a change of the store. Each is recorded with what was told.
 */
export interface Alerts {
  /**
   * Tells of at most `limit` keys that can be used and that expire until `untilMs`. A key is told once for each expiry,
   * however often this runs and on however many nodes. Returns their number.
   */
  tellExpiringKeys(window: {
    readonly nowMs: number
    readonly untilMs: number
    readonly limit: number
  }): Promise<number>

  /** The providers that were told to fail and not to have recovered. */
  toldProviders(): Promise<readonly ToldProvider[]>

  /** Tells that a provider fails, or that it has recovered. */
  tellProvider(news: ProviderNews): Promise<void>
}
