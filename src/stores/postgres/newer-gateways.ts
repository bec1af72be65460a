import { GatewayError } from '../../domain/errors.ts'
import type { Clock } from '../../gateway/ports/clock.ts'
import { UnreadableRowError } from '../books/catalog/catalog-tables.ts'
import type { StoredCatalog } from '../books/catalog/stored-catalog.ts'
import { lastMigration, tooOldProblem } from './database/migrate.ts'
import type { Watch } from './database/poll.ts'

/**
 * Load balancers ask for the readiness every few seconds. In this time, they see that the newer gateway is ready, so
 * that some gateway is at every moment. Meanwhile paid work is done, because a migration leaves all that running
 * gateways use.
 */
const UNREADY_AFTER_MS = 10_000
/** After that, they have the same time to see that this gateway is not ready. */
const REFUSE_AFTER_MS = UNREADY_AFTER_MS + 10_000

/**
 * The smallest migration that gateways must know, as soon as one that knows it has started. Until then nothing is
 * written that earlier gateways cannot work with, and they serve alone.
 */
const MIN_MIGRATION_IN_USE = `SELECT coalesce(max(min_number), 0) FROM migrations
  WHERE EXISTS (SELECT FROM lanes WHERE migration >= min_number AND seen_at_ms > 0)`

type Parts = {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Called with each new problem, as a sentence for the operator. */
  readonly onProblem: (problem: string) => void
  /** Replaces the number of the last migration of this build, for tests. */
  readonly migration?: number
}

/** Notices what newer gateways did to the database that this one cannot follow. */
export class NewerGateways {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #onProblem: (problem: string) => void
  readonly #migration: number
  /** Why this gateway may not begin paid work, and since when. */
  #tooOld: { readonly problem: string; readonly sinceMs: number } | undefined
  /** Why the newest catalog cannot be read. */
  #unreadable: string | undefined

  constructor({ clock, onProblem, migration = lastMigration() }: Parts) {
    this.#clock = clock
    this.#onProblem = onProblem
    this.#migration = migration
  }

  /** A sentence for the operator. The gateway is not ready as long as there is one. */
  get problem(): string | undefined {
    const { problem, sinceMs = 0 } = this.#tooOld ?? {}
    return problem !== undefined && this.#clock.monotonicMs() - sinceMs >= UNREADY_AFTER_MS
      ? problem
      : this.#unreadable
  }

  /** The error for new paid work, once load balancers had the time to see that this gateway is not ready. */
  get refusal(): GatewayError | undefined {
    if (this.#tooOld === undefined) return undefined
    if (this.#clock.monotonicMs() - this.#tooOld.sinceMs < REFUSE_AFTER_MS) return undefined
    return new GatewayError(
      'unavailable',
      'This gateway is being replaced by a newer version. Try again shortly.',
      { retryAfter: '5' },
    )
  }

  /** Watches for newer gateways that use a migration that this one cannot work with. */
  watchMigrations(): Watch {
    return {
      sql: MIN_MIGRATION_IN_USE,
      seen: min => {
        const problem = tooOldProblem(Number(min), this.#migration)
        if (problem === undefined || this.#tooOld !== undefined) return
        this.#tooOld = { problem, sinceMs: this.#clock.monotonicMs() }
        this.#onProblem(problem)
      },
    }
  }

  /**
   * Reads the catalog again when another node edited it, or when a failover lost an edit. The revision can then be an
   * earlier one, or another one of the same number, which its time tells.
   */
  watchCatalog(catalog: Pick<StoredCatalog, 'current' | 'refresh'>): readonly Watch[] {
    const refresh = () =>
      void catalog.refresh().then(
        () => (this.#unreadable = undefined),
        (error: unknown) => this.#noteUnread(error),
      )
    let isRefreshing = false
    return [
      {
        sql: 'SELECT revision FROM catalog_state',
        seen: revision => {
          isRefreshing = Number(revision) !== catalog.current().revision
          if (isRefreshing) refresh()
        },
      },
      {
        sql: 'SELECT updated_at_ms FROM catalog_state',
        seen: atMs => {
          if (!isRefreshing && Number(atMs) !== catalog.current().updatedAtMs) refresh()
        },
      },
    ]
  }

  /** The next poll finds the same revision. */
  #noteUnread(error: unknown): void {
    if (!(error instanceof UnreadableRowError)) return
    const problem = `${error.message} This gateway goes on with the catalog before it. Install the version of the other gateways.`
    if (problem === this.#unreadable) return
    this.#unreadable = problem
    this.#onProblem(problem)
  }
}
