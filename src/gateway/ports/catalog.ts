import type { Audit } from './audit.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Model } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'

/**
 * The stored catalog. Edits are durable when they resolve and are seen by the next `current()`; each makes a new revision.
 * Values are validated before they come here (`domain/catalog`), the references between them here: a model whose provider
 * does not exist, or a provider that a model still uses, is refused with `invalid_field`.
 */
export interface CatalogStore {
  /** The catalog as it is now. Synchronous: every request reads it. */
  current(): Catalog
  /** Makes or replaces one provider. A secret `from: 'keep'` leaves the stored one. */
  putProvider(provider: Provider, audit: Audit): Promise<Catalog>
  /** False where there was none. */
  deleteProvider(id: string, audit: Audit): Promise<boolean>
  putModel(model: Model, audit: Audit): Promise<Catalog>
  deleteModel(id: string, audit: Audit): Promise<boolean>
  /** Replaces everything, or nothing if any part is wrong. The same catalog again makes no new revision. */
  replace(
    catalog: { readonly providers: readonly Provider[]; readonly models: readonly Model[] },
    audit: Audit,
  ): Promise<Catalog>
}
