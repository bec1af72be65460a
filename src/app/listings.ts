import type { Catalog } from '../domain/catalog/catalog.ts'
import { EMPTY_CATALOG, ofSandbox, withoutSandbox } from '../domain/catalog/catalog.ts'
import type { CatalogStore } from '../gateway/ports/catalog.ts'
import type { Listings } from '../http/catalog/routes.ts'

/** The catalogs that are listed: of each account what it can call, and to everybody what a usual account can. */
export function listings(
  store: Pick<CatalogStore, 'current'>,
  { isSandboxOn }: { readonly isSandboxOn: boolean },
): Listings {
  const usual = isSandboxOn ? (catalog: Catalog) => catalog : madeOnce(withoutSandbox)
  const sandboxOnly = isSandboxOn ? madeOnce(ofSandbox) : () => EMPTY_CATALOG
  return {
    forAll: () => usual(store.current()),
    forCaller: ({ account }) => (account.sandboxOnly ? sandboxOnly : usual)(store.current()),
  }
}

/** Once for each revision, since what is rendered of a catalog is kept by its identity. */
function madeOnce(make: (catalog: Catalog) => Catalog): (catalog: Catalog) => Catalog {
  const made = new WeakMap<Catalog, Catalog>()
  return whole => {
    const catalog = made.get(whole) ?? make(whole)
    made.set(whole, catalog)
    return catalog
  }
}
