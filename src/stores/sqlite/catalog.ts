import type { Catalog, CatalogSettings } from '../../domain/catalog/catalog.ts'
import type { AnyModelSettings, Model, ModelDraft } from '../../domain/catalog/model.ts'
import type { Provider, ProviderSettings } from '../../domain/catalog/provider.ts'
import { inconsistenciesOf, refuseUnknownProviders } from '../../domain/catalog/rows/catalog-rows.ts'
import { encodeModel } from '../../domain/catalog/rows/model-row.ts'
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
import { secretBox, type SecretKey } from './secrets/secret-box.ts'
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
  readonly committed: Catalog
}

/** The copy of the stored catalog in memory, which all nodes of a store share. */
export class CatalogState {
  readonly history: CatalogHistory
  readonly #tables: CatalogTables
  readonly #auditLog: SqliteAuditLog
  readonly #seals: CatalogSeals
  #committed: Catalog
  /** The catalog in the running transaction; undefined outside of one, and before its first edit. */
  #staged: Catalog | undefined

  private constructor({ history, tables, auditLog, seals, committed }: LoadedParts) {
    this.history = history
    this.#tables = tables
    this.#auditLog = auditLog
    this.#seals = seals
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
    const state = new CatalogState({
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
    check?.(before, after)
    if (isSameCatalog(before, after)) return before
    this.#tables.write(before, after, audit)
    const detail = audit.detail ?? changesSentence(catalogChanges(before, after))
    this.#auditLog.append({ ...audit, detail }, this.#seals.seal(after.revision))
    this.#staged = after
    return after
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
    replace: (settings, audit, check) =>
      groupCommit.run(() => state.edit(audit, catalog => storedLists(settings, catalog, audit.atMs), check)),
    preview(settings, atMs) {
      const { current } = state
      const revision = { revision: current.revision + 1, updatedAtMs: atMs }
      return catalogOf(storedLists(settings, current, atMs), revision)
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
        return { ...lists, models: lists.models.filter(model => model.id !== id) }
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
  return { ...lists, models: put(lists.models, storedModel(settings, catalog, audit.atMs)) }
}

function storedLists(settings: CatalogSettings, catalog: Catalog, atMs: number): CatalogLists {
  const problems = inconsistenciesOf(settings)
  if (problems.length > 0) throw rowsRefusal(problems)
  return {
    providers: settings.providers.map((provider, index) =>
      storedProvider(provider, catalog, ['providers', index]),
    ),
    models: settings.models.map(model => storedModel(model, catalog, atMs)),
  }
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

function put<Row extends { readonly id: string }>(rows: readonly Row[], row: Row): readonly Row[] {
  const index = rows.findIndex(({ id }) => id === row.id)
  return index < 0 ? [...rows, row] : rows.with(index, row)
}

function isSameCatalog(left: Catalog, right: Catalog): boolean {
  const before = listsOf(left)
  const after = listsOf(right)
  return isSameList(before.providers, after.providers) && isSameList(before.models, after.models)
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
  const shown = users.slice(0, 5).map(user => `"${user.id}"`)
  const others = users.length > shown.length ? ` and ${users.length - shown.length} more` : ''
  throw new GatewayError(
    'invalid_field',
    `Provider "${id}" is an upstream of ${shown.join(', ')}${others}. Give these another upstream or delete them first.`,
    { param: 'id' },
  )
}
