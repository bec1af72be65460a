import type { Audit } from './access/audit.ts'
import type { RowChange, RowKind, RowOf } from '../../domain/catalog/catalog-changes.ts'
import type { Catalog, CatalogSettings } from '../../domain/catalog/catalog.ts'
import type { AnyModelSettings } from '../../domain/catalog/model.ts'
import type { PriceList } from '../../domain/catalog/price-list.ts'
import type { ProviderSettings } from '../../domain/catalog/provider.ts'
import type { Page } from './ledger/ledger-reports.ts'

/**
 * The stored catalog. An edit is durable when it resolves. `current()` has it at once on this node, and on another node
 * within 1 s or after its next `refresh()`. Each edit that changes something makes a new revision, with its audit line;
 * an edit that changes nothing writes nothing. An edit changes the newest stored revision, even if this node has not
 * read it yet, so that no edit of another node is lost.
 *
 * Callers validate values (`domain/catalog/rows`); the store validates references. It refuses a model whose provider
 * does not exist, the deletion of a provider that a model uses or of a model that a price list names, a price list that
 * names an unknown model or one of another kind, the deletion of a price list of an open account, and a secret to keep
 * if there is none, with `invalid_field`. A change that `check` refuses writes nothing.
 */
export interface CatalogStore {
  /** The catalog of this node's copy. Synchronous, because every request reads it. Never an older one than before. */
  current(): Catalog
  /** Loads the newest stored revision into the copy, and returns it. Reads only its number if the copy has it. */
  refresh(): Promise<Catalog>
  /** Creates or replaces a provider; a new one is listed last. A secret `from: 'keep'` keeps the stored one. */
  putProvider(provider: ProviderSettings, audit: Audit, check?: CheckChange): Promise<Catalog>
  /** False if there was none. */
  deleteProvider(id: string, audit: Audit): Promise<boolean>
  /** Creates or replaces a model, finished or draft; a new one is listed last. */
  putModel(model: AnyModelSettings, audit: Audit, check?: CheckChange): Promise<Catalog>
  /** False if there was none. */
  deleteModel(id: string, audit: Audit): Promise<boolean>
  /** Creates or replaces a price list; a new one is listed last. */
  putPriceList(list: PriceList, audit: Audit, check?: CheckChange): Promise<Catalog>
  /** False if there was none. */
  deletePriceList(id: string, audit: Audit): Promise<boolean>
  /** Replaces the whole catalog, or nothing if a part of it is wrong or if `check` throws. */
  replace(catalog: CatalogSettings, audit: Audit, check?: CheckChange): Promise<Catalog>
  /** What `replace` would make of `current()` at the time of the call. Rejects with the error of that edit. */
  preview(catalog: CatalogSettings, atMs: number): Promise<Catalog>
  /** The revisions that are kept, newest first. */
  history(page: Page): Promise<readonly CatalogRevision[]>
  /**
   * The versions of one row that are kept, newest first; none for a row that never was in the catalog. Throws
   * `invalid_field` if this version of the gateway cannot read one of them.
   */
  versions<Kind extends RowKind>(
    row: { readonly kind: Kind; readonly id: string },
    page: Page,
  ): Promise<readonly RowVersion<Kind>[]>
  /** The catalog at a revision, with its stored keys. Undefined if that revision is not kept. */
  at(revision: number): Promise<CatalogSettings | undefined>
}

/** Throws to refuse a change. It runs in the step that makes the change, and may run again. */
export type CheckChange = (before: Catalog, after: Catalog) => void

/** One edit of the catalog. The other members are those of its audit line. */
export type CatalogRevision = Omit<Audit, 'detail'> & {
  readonly revision: number
  /** The rows that it added, changed and removed: providers, models, price lists; without rows that only moved. */
  readonly changes: readonly Pick<RowChange, 'kind' | 'id' | 'change'>[]
  /** The place in the list, for the page after it. */
  readonly cursor: string
}

/** What an edit of the catalog made of one row. The other members are those of its audit line. */
export type RowVersion<Kind extends RowKind> = Omit<Audit, 'detail'> & {
  readonly revision: number
  /** Undefined if the edit removed the row. */
  readonly row: RowOf[Kind] | undefined
  /** The row before the edit. Undefined if it was not in the catalog. */
  readonly before: RowOf[Kind] | undefined
  /** The place in the list, for the page after it. */
  readonly cursor: string
}
