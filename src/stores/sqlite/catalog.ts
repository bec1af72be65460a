import type { Catalog, CatalogSettings } from '../../domain/catalog/catalog.ts'
import type { AnyModelSettings, Model, ModelDraft } from '../../domain/catalog/model.ts'
import type { PriceList } from '../../domain/catalog/price-list.ts'
import type { Provider, ProviderSettings } from '../../domain/catalog/provider.ts'
import { inconsistenciesOf, refuseUnknownProviders } from '../../domain/catalog/rows/catalog-rows.ts'
import { encodeModel } from '../../domain/catalog/rows/model-row.ts'
import { encodePriceList, kindsOf, refuseUnfitPrices } from '../../domain/catalog/rows/price-list-row.ts'
import { rowsRefusal, type Path, type RowProblem } from '../../domain/catalog/rows/problem.ts'
import { encodeProvider } from '../../domain/catalog/rows/provider-row.ts'
import { GatewayError } from '../../domain/errors.ts'
import type { Audit } from '../../gateway/ports/audit.ts'
import type { CatalogStore, CheckChange } from '../../gateway/ports/catalog.ts'
import type { SqliteAuditLog } from './audit-log.ts'
import { catalogHistory, type CatalogHistory } from './catalog-history.ts'
import { CatalogSeals } from './catalog-seal.ts'
import { catalogOf, catalogTables, listsOf, type CatalogLists, type CatalogTables } from './catalog-tables.ts'
import { catalogChanges, changesSentence } from '../../domain/catalog/catalog-changes.ts'
import type { Database } from './database.ts'
import type { GroupCommit } from './group-commit.ts'
import { secretBox, type SecretKey } from '../books/secrets/secret-box.ts'
import type { Transactions } from './transactions.ts'

type CatalogParts = {
  readonly database: Database
  readonly transactions: Transactions
  readonly auditLog: SqliteAuditLog
  readonly secretKey: SecretKey
}

type LoadedParts = {
  readonly history: CatalogHistory
  readonly tables: CatalogTables
  readonly auditLog: SqliteAuditLog
  readonly seals: CatalogSeals
  readonly usersOf: UsersOf
  readonly committed: Catalog
}

/** The names of some open accounts that have a price list. */
type UsersOf = (priceList: string) => readonly string[]

/** As many as a refusal names, and one more. */
const USERS_READ = 6

/** The copy of the stored catalog in memory, which all nodes of a store share. */
export class CatalogState {
  readonly history: CatalogHistory
  readonly #tables: CatalogTables
  readonly #auditLog: SqliteAuditLog
  readonly #seals: CatalogSeals
  readonly #usersOf: UsersOf
  #committed: Catalog
  /** The catalog in the running transaction; undefined outside of one, and before its first edit. */
  #staged: Catalog | undefined

  private constructor({ history, tables, auditLog, seals, usersOf, committed }: LoadedParts) {
    this.history = history
    this.#tables = tables
    this.#auditLog = auditLog
    this.#seals = seals
    this.#usersOf = usersOf
    this.#committed = committed
  }

  /**
   * Reads the catalog. Throws an Error for the operator if its secrets were encrypted with another key than
   * `secretKey`, unless that key is new: then the secrets are lost.
   */
  static load({ database, transactions, auditLog, secretKey }: CatalogParts): CatalogState {
    const box = secretBox(secretKey.bytes, secretKey.keep)
    const history = catalogHistory(database, box)
    const tables = catalogTables(database, box, { isNew: secretKey.isNew, history })
    const users = database.prepare<{ name: string }, [string, number]>(
      'SELECT name FROM accounts WHERE price_list = ? AND closed_at_ms IS NULL ORDER BY id LIMIT ?',
    )
    const state = new CatalogState({
      usersOf: priceList => users.all(priceList, USERS_READ).map(({ name }) => name),
      history,
      tables,
      auditLog,
      seals: new CatalogSeals(database),
      committed: tables.open(),
    })
    transactions.join({
      afterCommit: () => state.#adopt(),
      afterRollback: () => (state.#staged = undefined),
    })
    return state
  }

  get current(): Catalog {
    return this.#committed
  }

  /** Outside of steps: loads the stored catalog if its revision is not the one of the copy. */
  refresh(): Catalog {
    return (this.#committed = this.#newest())
  }

  /**
   * Inside a step: writes the catalog that `change` makes of the newest one, with its audit line. Writes nothing if it
   * is the same catalog.
   */
  edit(audit: Audit, change: (catalog: Catalog) => CatalogLists, check?: CheckChange): Catalog {
    const before = (this.#staged ??= this.#newest())
    const revision = { revision: before.revision + 1, updatedAtMs: audit.atMs }
    const after = catalogOf(change(before), revision)
    this.refuseUsedLists(before, after)
    check?.(before, after)
    if (isSameCatalog(before, after)) return before
    this.#tables.write(before, after, audit)
    const detail = audit.detail ?? changesSentence(catalogChanges(before, after))
    this.#auditLog.append({ ...audit, detail }, this.#seals.seal(after.revision))
    this.#staged = after
    return after
  }

  /** Throws `invalid_field` if `after` lacks a price list that an account has. */
  refuseUsedLists(before: Catalog, after: Catalog): void {
    for (const id of before.priceLists.keys()) {
      const users = after.priceLists.has(id) ? [] : this.#usersOf(id)
      if (users.length > 0) throw listInUse(id, users)
    }
  }

  #newest(): Catalog {
    const isNewest = this.#tables.revision() === this.#committed.revision
    return isNewest ? this.#committed : this.#tables.read()
  }

  #adopt(): void {
    this.#committed = this.#staged ?? this.#committed
    this.#staged = undefined
  }
}

/** The catalog port of one node. */
export function createCatalogStore(state: CatalogState, groupCommit: GroupCommit): CatalogStore {
  const edit = (audit: Audit, change: (catalog: Catalog) => CatalogLists) =>
    groupCommit.run(() => state.edit(audit, change))

  return {
    current: () => state.current,
    refresh: async () => state.refresh(),
    putProvider: (settings, audit) => edit(audit, catalog => withProvider(settings, catalog)),
    putModel: (settings, audit) => edit(audit, catalog => withModel(settings, catalog, audit)),
    putPriceList: (list, audit) => edit(audit, catalog => withPriceList(list, catalog)),
    replace: (settings, audit, check) =>
      groupCommit.run(() => state.edit(audit, catalog => storedLists(settings, catalog, audit.atMs), check)),
    preview(settings, atMs) {
      const { current } = state
      const revision = { revision: current.revision + 1, updatedAtMs: atMs }
      const after = catalogOf(storedLists(settings, current, atMs), revision)
      state.refuseUsedLists(current, after)
      return after
    },
    history: async page => state.history.list(page),
    at: async revision => state.history.at(revision),
    async deleteProvider(id, audit) {
      let isThere = false
      await edit(audit, catalog => {
        isThere = catalog.providers.has(id)
        const lists = listsOf(catalog)
        refuseInUse(id, lists.models)
        return { ...lists, providers: lists.providers.filter(provider => provider.id !== id) }
      })
      return isThere
    },
    async deleteModel(id, audit) {
      let isThere = false
      await edit(audit, catalog => {
        isThere = catalog.models.has(id) || catalog.drafts.has(id)
        const lists = listsOf(catalog)
        refusePriced(id, lists.priceLists)
        return { ...lists, models: lists.models.filter(model => model.id !== id) }
      })
      return isThere
    },
    async deletePriceList(id, audit) {
      let isThere = false
      await edit(audit, catalog => {
        isThere = catalog.priceLists.has(id)
        const lists = listsOf(catalog)
        return { ...lists, priceLists: lists.priceLists.filter(list => list.id !== id) }
      })
      return isThere
    },
  }
}

function withProvider(settings: ProviderSettings, catalog: Catalog): CatalogLists {
  const provider = storedProvider(settings, catalog, [])
  const lists = listsOf(catalog)
  return { ...lists, providers: put(lists.providers, provider) }
}

function withModel(settings: AnyModelSettings, catalog: Catalog, audit: Audit): CatalogLists {
  const problems: RowProblem[] = []
  refuseUnknownProviders(settings, new Set(catalog.providers.keys()), { path: [], problems })
  if (problems.length > 0) throw rowsRefusal(problems)
  const lists = listsOf(catalog)
  // The kind of a model may change, and a price list can have a price for it.
  return consistent({
    ...lists,
    models: put(lists.models, storedModel(settings, catalog, audit.atMs)),
  })
}

function withPriceList(list: PriceList, catalog: Catalog): CatalogLists {
  const lists = listsOf(catalog)
  const problems: RowProblem[] = []
  refuseUnfitPrices(list, kindsOf(lists.models), { path: [], problems })
  if (problems.length > 0) throw rowsRefusal(problems)
  return { ...lists, priceLists: put(lists.priceLists, storedPriceList(list, catalog)) }
}

function storedLists(settings: CatalogSettings, catalog: Catalog, atMs: number): CatalogLists {
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

function isSameCatalog(left: Catalog, right: Catalog): boolean {
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

function refuseInUse(id: string, models: readonly (Model | ModelDraft)[]): void {
  const users = models.filter(({ upstreams }) => upstreams.some(({ provider }) => provider === id))
  if (users.length === 0) return
  const shown = users.slice(0, NAMED_MAX).map(user => `"${user.id}"`)
  const others = users.length > shown.length ? ` and ${users.length - shown.length} more` : ''
  throw new GatewayError(
    'invalid_field',
    `Provider "${id}" is an upstream of ${shown.join(', ')}${others}. Give these another upstream or delete them first.`,
    { param: 'id' },
  )
}

function refusePriced(id: string, priceLists: readonly PriceList[]): void {
  const users = priceLists.filter(({ prices }) => prices.has(id))
  if (users.length === 0) return
  const shown = users.slice(0, NAMED_MAX).map(list => `"${list.id}"`)
  const others = users.length > shown.length ? ` and ${users.length - shown.length} more` : ''
  throw new GatewayError(
    'invalid_field',
    `Model "${id}" has its own price in these price lists: ${shown.join(', ')}${others}. Remove that price first.`,
    { param: 'id' },
  )
}

function listInUse(id: string, users: readonly string[]): GatewayError {
  const shown = users.slice(0, NAMED_MAX).map(name => JSON.stringify(name))
  const others = users.length > shown.length ? ' and others' : ''
  return new GatewayError(
    'invalid_field',
    `Price list "${id}" is the list of these accounts: ${shown.join(', ')}${others}. Give them another list, or none, before you remove it.`,
    { param: 'price_lists' },
  )
}

/** A refusal names no more rows. */
const NAMED_MAX = 5
