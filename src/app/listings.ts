import type { Catalog } from '../domain/catalog/catalog.ts'
import { ofAccount, ofKey, REGULAR_ACCOUNT, withCallable, type Callable } from '../domain/catalog/catalog.ts'
import { pricedCatalog, priceListOf, type PriceList } from '../domain/catalog/price-list.ts'
import type { SandboxSwitch } from '../domain/catalog/provider.ts'
import type { CatalogStore } from '../gateway/ports/catalog.ts'
import type { Listings } from '../http/catalog/routes.ts'

/**
 * The catalogs to list. Each key sees the models that it can call, with the prices of its account; the public lists
 * show those of a regular account, with the default prices. A model that cannot be called now, such as one whose
 * provider's key is not set, is not listed.
 */
export function listings(
  store: Pick<CatalogStore, 'current'>,
  sandbox: SandboxSwitch,
  callable: Callable,
): Listings {
  const regular = oncePerCatalog(catalog =>
    withCallable(ofAccount(catalog, REGULAR_ACCOUNT, sandbox), callable),
  )
  const sandboxOnly = oncePerCatalog(catalog => ofAccount(catalog, { sandboxOnly: true }, sandbox))
  return {
    forAll: () => regular(store.current()),
    // Lists of restricted keys are made for each request: every key has its own, and they are seldom read.
    forCaller({ account, apiKey }) {
      const catalog = store.current()
      const shown = (account.sandboxOnly ? sandboxOnly : regular)(catalog)
      const list = priceListOf(catalog, account)
      return ofKey(list === undefined ? shown : pricedOnce(shown, list), apiKey.settings)
    },
  }
}

/** Most gateways have fewer price lists. Each takes the memory of a rendered catalog. */
const PRICED_MAX = 32

/** The catalogs with the prices of the lists that were used last, for each catalog that is listed. */
const priced = new WeakMap<Catalog, Map<PriceList, Catalog>>()

/** The same object for the same catalog and list, as `oncePerCatalog`. */
function pricedOnce(catalog: Catalog, list: PriceList): Catalog {
  const byList = priced.get(catalog) ?? new Map<PriceList, Catalog>()
  priced.set(catalog, byList)
  const known = byList.get(list) ?? pricedCatalog(catalog, list)
  byList.delete(list)
  byList.set(list, known)
  const [oldest] = byList.keys()
  if (byList.size > PRICED_MAX && oldest !== undefined) byList.delete(oldest)
  return known
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
