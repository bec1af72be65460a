import type { Catalog } from '../../domain/catalog/catalog.ts'
import { isFinished, type AnyModelSettings, type Model, type ModelDraft } from '../../domain/catalog/model.ts'
import type { PriceList } from '../../domain/catalog/price-list.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { decodeModel, encodeModel } from '../../domain/catalog/rows/model-row.ts'
import { decodePriceList, encodePriceList } from '../../domain/catalog/rows/price-list-row.ts'
import { problemSentence, type Checked } from '../../domain/catalog/rows/problem.ts'
import { decodeStoredProvider, encodeProvider } from '../../domain/catalog/rows/provider-row.ts'
import type { Audit } from '../../gateway/ports/audit.ts'
import type { CatalogHistory } from './catalog-history.ts'
import type { Database } from './database.ts'
import type { SecretBox, SecretKey } from '../books/secrets/secret-box.ts'

/** A catalog as the stored lists: finished models before drafts, each in the order of the list. */
export type CatalogLists = {
  readonly providers: readonly Provider[]
  readonly models: readonly (Model | ModelDraft)[]
  readonly priceLists: readonly PriceList[]
}

export type CatalogTables = {
  /**
   * Checks the secret key, and reads the stored catalog. Throws an Error for the operator if the secret key is a
   * different one, unless it is new.
   */
  open(): Catalog
  /**
   * Reads the stored catalog. A secret that cannot be read is lost. Throws an Error for the operator if a row cannot be
   * read.
   */
  read(): Catalog
  /** The number of the stored revision. */
  revision(): number
  /**
   * Writes the difference between two catalogs, also as a revision of the history. Rows that are the same object are
   * unchanged.
   */
  write(before: Catalog, after: Catalog, audit: Audit): void
}

/** The text in `key_check`, and the owner it is bound to. */
const CHECK = 'tollgate'

type StateRow = { revision: bigint; updated_at_ms: bigint; key_check: Uint8Array | null }
type ModelRow = RowContent & { created_at_ms: bigint }

export function catalogTables(
  database: Database,
  box: SecretBox,
  { isNew, history }: Pick<SecretKey, 'isNew'> & { readonly history: CatalogHistory },
): CatalogTables {
  const { state, providers, read } = catalogReads(database, box)
  const putState = database.prepare(
    'UPDATE catalog_state SET revision = ?, updated_at_ms = ?, key_check = ifnull(key_check, ?)',
  )
  const putCheck = database.prepare('UPDATE catalog_state SET key_check = ?')
  const putProvider = database.prepare(
    'INSERT OR REPLACE INTO providers (id, position, content, sealed_secret) VALUES (?, ?, ?, ?)',
  )
  const deleteProvider = database.prepare('DELETE FROM providers WHERE id = ?')
  const putModel = database.prepare(
    'INSERT OR REPLACE INTO models (id, position, content, created_at_ms) VALUES (?, ?, ?, ?)',
  )
  const deleteModel = database.prepare('DELETE FROM models WHERE id = ?')
  const putPriceList = database.prepare(
    'INSERT OR REPLACE INTO price_lists (id, position, content) VALUES (?, ?, ?)',
  )
  const deletePriceList = database.prepare('DELETE FROM price_lists WHERE id = ?')

  /** The stored check was sealed with a key that is lost. Edits replace it, because they keep the new key. */
  let isCheckLost = false
  return {
    open() {
      const { key_check: check } = state()
      if (check !== null && box.open(check, CHECK) === undefined) {
        isCheckLost = isNew
        if (!isNew && opensNone(providers(), box)) throw wrongKey()
        if (!isNew) putCheck.run(box.seal(CHECK, CHECK))
      }
      return read()
    },
    read,
    revision: () => Number(state().revision),
    write(before, after, audit) {
      const { revision } = after
      const from = listsOf(before)
      const to = listsOf(after)
      history.begin(revision, audit)
      for (const { id } of removed(from.providers, after.providers)) {
        deleteProvider.run(id)
        history.addProvider(revision, { id, position: 0, content: null, sealed_secret: null })
      }
      for (const [position, provider] of changed(from.providers, to.providers)) {
        const { id, secret } = provider
        const sealed = secret.from === 'literal' ? box.seal(secret.value, id) : null
        const content = JSON.stringify(encodeProvider(provider))
        putProvider.run(id, position, content, sealed)
        history.addProvider(revision, { id, position, content, sealed_secret: sealed })
      }
      const rows = new Map(to.models.map(row => [row.id, row]))
      for (const { id } of removed(from.models, rows)) {
        deleteModel.run(id)
        history.addModel(revision, { id, position: 0, content: null })
      }
      for (const [position, row] of changed(from.models, to.models)) {
        const content = JSON.stringify(encodeModel(row))
        putModel.run(row.id, position, content, row.createdAtMs)
        history.addModel(revision, { id: row.id, position, content })
      }
      for (const { id } of removed(from.priceLists, after.priceLists)) {
        deletePriceList.run(id)
        history.addPriceList(revision, { id, position: 0, content: null })
      }
      for (const [position, list] of changed(from.priceLists, to.priceLists)) {
        const content = JSON.stringify(encodePriceList(list))
        putPriceList.run(list.id, position, content)
        history.addPriceList(revision, { id: list.id, position, content })
      }
      putState.run(after.revision, after.updatedAtMs, box.seal(CHECK, CHECK))
      if (isCheckLost) putCheck.run(box.seal(CHECK, CHECK))
    },
  }
}

function catalogReads(database: Database, box: SecretBox) {
  const selectState = database.prepare<StateRow, []>(
    'SELECT revision, updated_at_ms, key_check FROM catalog_state',
  )
  const selectProviders = database.prepare<ProviderContent, []>(
    'SELECT id, content, sealed_secret FROM providers ORDER BY position',
  )
  const selectModels = database.prepare<ModelRow, []>(
    'SELECT id, content, created_at_ms FROM models ORDER BY position',
  )
  const selectPriceLists = database.prepare<RowContent, []>(
    'SELECT id, content FROM price_lists ORDER BY position',
  )

  const state = (): StateRow => {
    const stored = selectState.get()
    if (stored === null)
      throw new Error('The catalog has lost its state. Restore the data folder from a backup.')
    return stored
  }
  const providers = () => selectProviders.all()
  const read = (): Catalog => {
    const { revision, updated_at_ms } = state()
    return catalogOf(
      {
        providers: providers().map(row => readProvider(row, box)),
        models: selectModels.all().map(readModel),
        priceLists: selectPriceLists.all().map(readPriceListContent),
      },
      { revision: Number(revision), updatedAtMs: Number(updated_at_ms) },
    )
  }
  return { state, providers, read }
}

export function catalogOf(
  { providers, models, priceLists }: CatalogLists,
  { revision, updatedAtMs }: Pick<Catalog, 'revision' | 'updatedAtMs'>,
): Catalog {
  const finished = new Map<string, Model>()
  const drafts = new Map<string, ModelDraft>()
  for (const row of models) {
    if (isFinished(row)) finished.set(row.id, row)
    else drafts.set(row.id, row)
  }
  return {
    revision,
    updatedAtMs,
    providers: new Map(providers.map(provider => [provider.id, provider])),
    models: finished,
    drafts,
    priceLists: new Map(priceLists.map(list => [list.id, list])),
  }
}

export function listsOf({ providers, models, drafts, priceLists }: Catalog): CatalogLists {
  return {
    providers: [...providers.values()],
    models: [...models.values(), ...drafts.values()],
    priceLists: [...priceLists.values()],
  }
}

function removed<Row extends { readonly id: string }>(
  before: readonly Row[],
  after: ReadonlyMap<string, unknown>,
): readonly Row[] {
  return before.filter(({ id }) => !after.has(id))
}

/** The rows that are new, changed or at another place, with their places. */
function changed<Row>(before: readonly Row[], after: readonly Row[]): [number, Row][] {
  return [...after.entries()].filter(([position, row]) => before[position] !== row)
}

/**
 * Whether the key opens no secret. `key_check` is not enough: it may be of a key that was created while this one was
 * missing.
 */
function opensNone(rows: readonly ProviderContent[], box: SecretBox): boolean {
  const sealed = rows.filter(row => row.sealed_secret !== null)
  return sealed.length > 0 && !sealed.some(row => openSecret(row, box) !== undefined)
}

function readModel(row: ModelRow): Model | ModelDraft {
  return { ...readModelContent(row), createdAtMs: Number(row.created_at_ms) }
}

function wrongKey(): Error {
  return new Error(
    'The provider keys in this data folder were encrypted under another secret.key. Put back the secret.key that belongs to it. ' +
      'If that is lost, delete this one: the next edit of the catalog makes another, and the keys have to be entered again.',
  )
}

/** A stored provider: its row as JSON, and its literal key, encrypted. */
export type ProviderContent = { id: string; content: string; sealed_secret: Uint8Array | null }
/** A stored model or price list: its row as JSON. */
export type RowContent = { id: string; content: string }

/**
 * Reads a stored provider. A key that cannot be decrypted is lost. Throws an Error for the operator if the row cannot
 * be read.
 */
export function readProvider(row: ProviderContent, box: SecretBox): Provider {
  const { secret, ...provider } = valid(`provider "${row.id}"`, decodeStoredProvider(JSON.parse(row.content)))
  if (secret.from !== 'keep') return { ...provider, secret }
  const value = openSecret(row, box)
  return { ...provider, secret: value === undefined ? { from: 'lost' } : { from: 'literal', value } }
}

/** Reads a stored model. Throws an Error for the operator if the row cannot be read. */
export function readModelContent({ id, content }: RowContent): AnyModelSettings {
  return valid(`model "${id}"`, decodeModel(JSON.parse(content)))
}

/** Reads a stored price list. Throws an Error for the operator if the row cannot be read. */
export function readPriceListContent({ id, content }: RowContent): PriceList {
  return valid(`price list "${id}"`, decodePriceList(JSON.parse(content)))
}

/** The literal key of a provider; undefined if it has none, and if it cannot be decrypted. */
function openSecret({ id, sealed_secret }: ProviderContent, box: SecretBox): string | undefined {
  return sealed_secret === null ? undefined : box.open(sealed_secret, id)
}

function valid<T>(thing: string, decoded: Checked<T>): T {
  if (decoded.ok) return decoded.value
  const problems = decoded.problems.map(problem => problemSentence(problem, 'The row')).join(' ')
  throw new Error(`The stored ${thing} cannot be read by this version of tollgate: ${problems}`)
}
