import type { Catalog } from '../domain/catalog/catalog.ts'
import {
  EMPTY_CATALOG,
  ofKey,
  ofSandbox,
  withCallable,
  withoutSandbox,
  type Callable,
} from '../domain/catalog/catalog.ts'
import type { CatalogStore } from '../gateway/ports/catalog.ts'
import type { Listings } from '../http/catalog/routes.ts'

/**
 * The catalogs to list. Each key sees the models that it can call; the public lists show those of a regular
 * account. A model that cannot be called now, such as one whose provider's key is not set, is not listed.
 */
export function listings(
  store: Pick<CatalogStore, 'current'>,
  { isSandboxOn }: { readonly isSandboxOn: boolean },
  callable: Callable,
): Listings {
  const regular = oncePerCatalog(catalog =>
    withCallable(isSandboxOn ? catalog : withoutSandbox(catalog), callable),
  )
  const sandboxOnly = isSandboxOn ? oncePerCatalog(ofSandbox) : () => EMPTY_CATALOG
  return {
    forAll: () => regular(store.current()),
    // Lists of restricted keys are made for each request: every key has its own, and they are seldom read.
    forCaller: ({ account, apiKey }) =>
      ofKey((account.sandboxOnly ? sandboxOnly : regular)(store.current()), apiKey.settings),
  }
}

/** Computes once per revision. Rendered lists are cached by the identity of the catalog. */
function oncePerCatalog(make: (catalog: Catalog) => Catalog): (catalog: Catalog) => Catalog {
  const made = new WeakMap<Catalog, Catalog>()
  return whole => {
    const catalog = made.get(whole) ?? make(whole)
    made.set(whole, catalog)
    return catalog
  }
}
