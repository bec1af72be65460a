import type { Audit } from './audit.ts'
import type { Catalog, CatalogSettings } from '../../domain/catalog/catalog.ts'
import type { AnyModelSettings } from '../../domain/catalog/model.ts'
import type { ProviderSettings } from '../../domain/catalog/provider.ts'

/**
 * The stored catalog. Edits are durable when they resolve and are seen by the next `current()`. Each that changes something
 * makes a new revision, with its audit line; one that changes nothing leaves no trace.
 *
 * Values are validated before they come here (`domain/catalog/rows`), the references between them here: a model whose
 * provider does not exist, a provider that a model still uses, or a secret to keep where there is none, is refused with
 * `invalid_field`.
 */
export interface CatalogStore {
  /** The catalog as it is now. Synchronous: every request reads it. */
  current(): Catalog
  /** Makes or replaces one provider; a new one is listed last. A secret `from: 'keep'` leaves the stored one. */
  putProvider(provider: ProviderSettings, audit: Audit): Promise<Catalog>
  /** False where there was none. */
  deleteProvider(id: string, audit: Audit): Promise<boolean>
  /** Makes or replaces one row, a draft or not; a new one is listed last. */
  putModel(model: AnyModelSettings, audit: Audit): Promise<Catalog>
  /** False where there was none. */
  deleteModel(id: string, audit: Audit): Promise<boolean>
  /** Replaces everything, or nothing if any part is wrong. The same catalog again makes no new revision. */
  replace(catalog: CatalogSettings, audit: Audit): Promise<Catalog>
}
