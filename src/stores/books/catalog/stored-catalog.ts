import { catalogChanges, changesSentence, type RowKind } from '../../../domain/catalog/catalog-changes.ts'
import type { Catalog, CatalogSettings } from '../../../domain/catalog/catalog.ts'
import type { AnyModelSettings } from '../../../domain/catalog/model.ts'
import type { PriceList } from '../../../domain/catalog/price-list.ts'
import type { ProviderSettings } from '../../../domain/catalog/provider.ts'
import type { Audit } from '../../../gateway/ports/access/audit.ts'
import type {
  CatalogRevision,
  CatalogStore,
  CheckChange,
  RowVersion,
} from '../../../gateway/ports/catalog.ts'
import type { Page } from '../../../gateway/ports/ledger/ledger-reports.ts'
import { appendAudit } from '../access/audit-log.ts'
import type { Hashes } from '../rows/commit-rows.ts'
import { all, type StepRunner, type Step } from '../steps.ts'
import {
  isSameCatalog,
  listInUse,
  storedLists,
  USERS_READ,
  withModel,
  withoutModel,
  withoutPriceList,
  withoutProvider,
  withPriceList,
  withProvider,
} from './catalog-edits.ts'
import { catalogAt, listRevisions, listVersions } from './catalog-history.ts'
import { CatalogSeals } from './catalog-seal.ts'
import {
  catalogOf,
  isSameRevision,
  readCatalog,
  readRevision,
  writeCatalog,
  type CatalogLists,
} from './catalog-tables.ts'
import type { Sealing } from './key-check.ts'

/** The copy of the stored catalog in memory. All nodes of a process over one SQLite file share one. */
export class CatalogCopy {
  #catalog: Catalog

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  get catalog(): Catalog {
    return this.#catalog
  }

  /**
   * Takes a catalog that is newer than the copy, or that was read while the copy stayed as it was before: after a
   * failover that lost edits, the stored revision can be an earlier one, or another one of the same number. Returns the
   * one that it keeps, if that is the same revision.
   */
  adopt(catalog: Catalog, before: Catalog): Catalog {
    if (isSameRevision(catalog, this.#catalog)) return this.#catalog
    if (catalog.revision > this.#catalog.revision || before === this.#catalog) this.#catalog = catalog
    return catalog
  }
}

type CatalogParts = {
  readonly stepRunner: StepRunner
  readonly copy: CatalogCopy
  readonly sealing: Sealing
  readonly hashes: Pick<Hashes, 'newSha256'>
}

type Change = (catalog: Catalog) => CatalogLists

/** The catalog port of one node. */
export class StoredCatalog implements CatalogStore {
  readonly #stepRunner: StepRunner
  readonly #copy: CatalogCopy
  readonly #sealing: Sealing
  readonly #seals: CatalogSeals

  constructor({ stepRunner, copy, sealing, hashes }: CatalogParts) {
    this.#stepRunner = stepRunner
    this.#copy = copy
    this.#sealing = sealing
    this.#seals = new CatalogSeals(hashes)
  }

  current(): Catalog {
    return this.#copy.catalog
  }

  async refresh(): Promise<Catalog> {
    const before = this.#copy.catalog
    this.#copy.adopt(await this.#stepRunner.read(() => this.#newest()), before)
    return this.#copy.catalog
  }

  putProvider(provider: ProviderSettings, audit: Audit, check?: CheckChange): Promise<Catalog> {
    return this.#edit(audit, catalog => withProvider(provider, catalog), check)
  }

  putModel(model: AnyModelSettings, audit: Audit, check?: CheckChange): Promise<Catalog> {
    return this.#edit(audit, catalog => withModel(model, catalog, audit.atMs), check)
  }

  putPriceList(list: PriceList, audit: Audit, check?: CheckChange): Promise<Catalog> {
    return this.#edit(audit, catalog => withPriceList(list, catalog), check)
  }

  deleteProvider(id: string, audit: Audit): Promise<boolean> {
    return this.#delete(
      audit,
      ({ providers }) => providers.has(id),
      catalog => withoutProvider(id, catalog),
    )
  }

  deleteModel(id: string, audit: Audit): Promise<boolean> {
    const isThere = ({ models, drafts }: Catalog) => models.has(id) || drafts.has(id)
    return this.#delete(audit, isThere, catalog => withoutModel(id, catalog))
  }

  deletePriceList(id: string, audit: Audit): Promise<boolean> {
    return this.#delete(
      audit,
      ({ priceLists }) => priceLists.has(id),
      catalog => withoutPriceList(id, catalog),
    )
  }

  replace(settings: CatalogSettings, audit: Audit, check?: CheckChange): Promise<Catalog> {
    return this.#edit(audit, catalog => storedLists(settings, catalog, audit.atMs), check)
  }

  async preview(settings: CatalogSettings, atMs: number): Promise<Catalog> {
    const current = this.current()
    const revision = { revision: current.revision + 1, updatedAtMs: atMs }
    const after = catalogOf(storedLists(settings, current, atMs), revision)
    await this.#stepRunner.read(() => refuseUsedLists(current, after))
    return after
  }

  history(page: Page): Promise<readonly CatalogRevision[]> {
    return this.#stepRunner.read(() => listRevisions(page, this.#sealing.box))
  }

  versions<Kind extends RowKind>(
    row: { readonly kind: Kind; readonly id: string },
    page: Page,
  ): Promise<readonly RowVersion<Kind>[]> {
    return this.#stepRunner.read(() => listVersions(row, page, this.#sealing.box))
  }

  at(revision: number): Promise<CatalogSettings | undefined> {
    return this.#stepRunner.read(() => catalogAt(revision, this.#sealing.box))
  }

  async #delete(audit: Audit, isThere: (catalog: Catalog) => boolean, change: Change): Promise<boolean> {
    let wasThere = false
    await this.#edit(audit, catalog => {
      wasThere = isThere(catalog)
      return change(catalog)
    })
    return wasThere
  }

  async #edit(audit: Audit, change: Change, check?: CheckChange): Promise<Catalog> {
    const before = this.#copy.catalog
    const after = await this.#stepRunner.write('catalog', () => this.#change(audit, change, check))
    return this.#copy.adopt(after, before)
  }

  /**
   * Writes the catalog that `change` makes of the newest one, with its audit line. Writes nothing if it is the same
   * catalog.
   */
  *#change(audit: Audit, change: Change, check?: CheckChange): Step<Catalog> {
    const before = yield* this.#newest()
    const after = catalogOf(change(before), { revision: before.revision + 1, updatedAtMs: audit.atMs })
    check?.(before, after)
    if (isSameCatalog(before, after)) return before
    yield* writeCatalog(before, after, { audit, sealing: this.#sealing })
    // After the list is deleted, because a step that gives it to an account holds its row until then.
    yield* refuseUsedLists(before, after)
    const detail = audit.detail ?? changesSentence(catalogChanges(before, after))
    yield* appendAudit({ ...audit, detail }, yield* this.#seals.seal(after.revision))
    return after
  }

  *#newest(): Step<Catalog> {
    const { catalog } = this.#copy
    const isNewest = isSameRevision(yield* readRevision(), catalog)
    return isNewest ? catalog : yield* readCatalog(this.#sealing.box)
  }
}

/** Throws `invalid_field` if `after` lacks a price list that an open account has. */
function* refuseUsedLists(before: Catalog, after: Catalog): Step<void> {
  for (const id of before.priceLists.keys()) {
    if (after.priceLists.has(id)) continue
    const users = yield* all<{ name: string }>(
      'SELECT name FROM accounts WHERE price_list = ? AND closed_at_ms IS NULL ORDER BY id LIMIT ?',
      id,
      USERS_READ,
    )
    if (users.length > 0)
      throw listInUse(
        id,
        users.map(({ name }) => name),
      )
  }
}
