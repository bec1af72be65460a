import type { Catalog, CatalogSettings } from '../../../domain/catalog/catalog.ts'
import type { AnyModelSettings, Model, ModelDraft } from '../../../domain/catalog/model.ts'
import type { PriceList } from '../../../domain/catalog/price-list.ts'
import type { Provider, ProviderSettings } from '../../../domain/catalog/provider.ts'
import { inconsistenciesOf, refuseUnknownProviders } from '../../../domain/catalog/rows/catalog-rows.ts'
import { encodeModel } from '../../../domain/catalog/rows/model-row.ts'
import { encodePriceList, kindsOf, refuseUnfitPrices } from '../../../domain/catalog/rows/price-list-row.ts'
import { rowsRefusal, type Path, type RowProblem } from '../../../domain/catalog/rows/problem.ts'
import { encodeProvider } from '../../../domain/catalog/rows/provider-row.ts'
import { GatewayError } from '../../../domain/errors.ts'
import { listsOf, type CatalogLists } from './catalog-tables.ts'

/*
 * The edits of a catalog. They throw `invalid_field` for rows that refer to something that is not there.
 */

export function withProvider(settings: ProviderSettings, catalog: Catalog): CatalogLists {
  const provider = storedProvider(settings, catalog, [])
  const lists = listsOf(catalog)
  return { ...lists, providers: put(lists.providers, provider) }
}

export function withModel(settings: AnyModelSettings, catalog: Catalog, atMs: number): CatalogLists {
  const problems: RowProblem[] = []
  refuseUnknownProviders(settings, new Set(catalog.providers.keys()), { path: [], problems })
  if (problems.length > 0) throw rowsRefusal(problems)
  const lists = listsOf(catalog)
  // The kind of a model may change, and a price list can have a price for it.
  return consistent({
    ...lists,
    models: put(lists.models, storedModel(settings, catalog, atMs)),
  })
}

export function withPriceList(list: PriceList, catalog: Catalog): CatalogLists {
  const lists = listsOf(catalog)
  const problems: RowProblem[] = []
  refuseUnfitPrices(list, kindsOf(lists.models), { path: [], problems })
  if (problems.length > 0) throw rowsRefusal(problems)
  return { ...lists, priceLists: put(lists.priceLists, storedPriceList(list, catalog)) }
}

export function storedLists(settings: CatalogSettings, catalog: Catalog, atMs: number): CatalogLists {
  const { priceLists = [...catalog.priceLists.values()] } = settings
  const problems = inconsistenciesOf({ ...settings, priceLists })
  if (problems.length > 0) throw rowsRefusal(problems)
  return {
    providers: settings.providers.map((provider, index) =>
      storedProvider(provider, catalog, ['providers', index]),
    ),
    models: settings.models.map(model => storedModel(model, catalog, atMs)),
    priceLists: priceLists.map(list => storedPriceList(list, catalog)),
  }
}

/** Throws `invalid_field` if a price list has a price that its model cannot have. */
function consistent(lists: CatalogLists): CatalogLists {
  const problems = inconsistenciesOf(lists)
  if (problems.length > 0) throw rowsRefusal(problems)
  return lists
}

/** The stored object itself if the settings are the same, because an edit recognizes unchanged rows by identity. */
function storedProvider(settings: ProviderSettings, catalog: Catalog, path: Path): Provider {
  const before = catalog.providers.get(settings.id)
  let secret = settings.secret
  if (secret.from === 'keep') {
    if (before?.secret.from !== 'literal') throw rowsRefusal([nothingToKeep(settings.id, path)])
    if (originOf(before) !== originOf(settings))
      throw rowsRefusal([keyOfAnotherOrigin(before, { settings, path })])
    secret = before.secret
  }
  const after = { ...settings, secret }
  return before !== undefined && isSameProvider(before, after) ? before : after
}

function isSameProvider(left: Provider, right: Provider): boolean {
  const hasSameSecret =
    right.secret.from === 'literal'
      ? left.secret.from === 'literal' && left.secret.value === right.secret.value
      : left.secret.from === right.secret.from
  return hasSameSecret && JSON.stringify(encodeProvider(left)) === JSON.stringify(encodeProvider(right))
}

function storedModel(settings: AnyModelSettings, catalog: Catalog, atMs: number): Model | ModelDraft {
  const before = catalog.models.get(settings.id) ?? catalog.drafts.get(settings.id)
  if (before === undefined) return { ...settings, createdAtMs: atMs }
  if (JSON.stringify(encodeModel(before)) === JSON.stringify(encodeModel(settings))) return before
  return { ...settings, createdAtMs: before.createdAtMs }
}

function storedPriceList(list: PriceList, catalog: Catalog): PriceList {
  const before = catalog.priceLists.get(list.id)
  if (before === undefined) return list
  return JSON.stringify(encodePriceList(before)) === JSON.stringify(encodePriceList(list)) ? before : list
}

function put<Row extends { readonly id: string }>(rows: readonly Row[], row: Row): readonly Row[] {
  const index = rows.findIndex(({ id }) => id === row.id)
  return index < 0 ? [...rows, row] : rows.with(index, row)
}

export function isSameCatalog(left: Catalog, right: Catalog): boolean {
  const before = listsOf(left)
  const after = listsOf(right)
  return (
    isSameList(before.providers, after.providers) &&
    isSameList(before.models, after.models) &&
    isSameList(before.priceLists, after.priceLists)
  )
}

function isSameList<Row>(left: readonly Row[], right: readonly Row[]): boolean {
  return left.length === right.length && left.every((row, index) => row === right[index])
}

function nothingToKeep(id: string, path: Path): RowProblem {
  return {
    path: [...path, 'api_key'],
    message: `says to keep the stored key of "${id}", but there is no stored key here`,
    remedy: 'write the key itself, or env:NAME',
  }
}

/** A stored key is never sent to another server, because that is most likely a mistake in the URL. */
function keyOfAnotherOrigin(
  before: Provider,
  { settings, path }: { readonly settings: ProviderSettings; readonly path: Path },
): RowProblem {
  return {
    path: [...path, 'api_key'],
    message: `says to keep the stored key of "${settings.id}", but base_url moves from ${originOf(before)} to ${originOf(settings)}`,
    remedy: 'write the key for the new address, or env:NAME',
  }
}

function originOf({ baseUrl }: Pick<Provider, 'baseUrl'>): string | undefined {
  return baseUrl === undefined ? undefined : new URL(baseUrl).origin
}

/** Throws `invalid_field` if a model uses the provider. */
export function withoutProvider(id: string, catalog: Catalog): CatalogLists {
  const lists = listsOf(catalog)
  const users = lists.models.filter(({ upstreams }) => upstreams.some(({ provider }) => provider === id))
  if (users.length > 0)
    throw new GatewayError(
      'invalid_field',
      `Provider "${id}" is an upstream of ${someOf(users)}. Give these another upstream or delete them first.`,
      { param: 'id' },
    )
  return { ...lists, providers: lists.providers.filter(provider => provider.id !== id) }
}

/** Throws `invalid_field` if a price list has a price of the model. */
export function withoutModel(id: string, catalog: Catalog): CatalogLists {
  const lists = listsOf(catalog)
  const users = lists.priceLists.filter(({ prices }) => prices.has(id))
  if (users.length > 0)
    throw new GatewayError(
      'invalid_field',
      `Model "${id}" has its own price in these price lists: ${someOf(users)}. Remove that price first.`,
      { param: 'id' },
    )
  return { ...lists, models: lists.models.filter(model => model.id !== id) }
}

export function withoutPriceList(id: string, catalog: Catalog): CatalogLists {
  const lists = listsOf(catalog)
  return { ...lists, priceLists: lists.priceLists.filter(list => list.id !== id) }
}

/** A refusal names no more rows. */
const NAMED_MAX = 5
/** As many accounts as a refusal names, and one more. */
export const USERS_READ = NAMED_MAX + 1

function someOf(rows: readonly { readonly id: string }[]): string {
  const shown = rows.slice(0, NAMED_MAX).map(({ id }) => `"${id}"`)
  return `${shown.join(', ')}${rows.length > shown.length ? ` and ${rows.length - shown.length} more` : ''}`
}

/** The refusal to remove a price list. `users` are the names of accounts that have it, at most `USERS_READ`. */
export function listInUse(id: string, users: readonly string[]): GatewayError {
  const shown = users.slice(0, NAMED_MAX).map(name => JSON.stringify(name))
  const others = users.length > shown.length ? ' and others' : ''
  return new GatewayError(
    'invalid_field',
    `Price list "${id}" is the list of these accounts: ${shown.join(', ')}${others}. Give them another list, or none, before you remove it.`,
    { param: 'price_lists' },
  )
}
