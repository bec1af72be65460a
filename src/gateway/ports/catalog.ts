import type { Audit } from './audit.ts'
import type { Catalog, CatalogSettings } from '../../domain/catalog/catalog.ts'
import type { AnyModelSettings } from '../../domain/catalog/model.ts'
import type { ProviderSettings } from '../../domain/catalog/provider.ts'

/**
 * The stored catalog. An edit is durable when it resolves. `current()` has it at once on this node and within 1 s on other
 * nodes. Each edit that changes something makes a new revision, with its audit line; an edit that changes nothing leaves no
 * trace.
 *
 * Callers validate values (`domain/catalog/rows`); the store validates references. It refuses a model whose provider does not
 * exist, the deletion of a provider that a model uses, and a secret to keep if there is none, with `invalid_field`.
 */
export interface CatalogStore {
  /** The current catalog. Synchronous, because every request reads it. */
  current(): Catalog
  /** Creates or replaces a provider; a new one is listed last. A secret `from: 'keep'` keeps the stored one. */
  putProvider(provider: ProviderSettings, audit: Audit): Promise<Catalog>
  /** False if there was none. */
  deleteProvider(id: string, audit: Audit): Promise<boolean>
  /** Creates or replaces a model, finished or draft; a new one is listed last. */
  putModel(model: AnyModelSettings, audit: Audit): Promise<Catalog>
  /** False if there was none. */
  deleteModel(id: string, audit: Audit): Promise<boolean>
  /** Replaces the whole catalog, or nothing if a part of it is wrong. */
  replace(catalog: CatalogSettings, audit: Audit): Promise<Catalog>
}
