import type { Catalog } from '../../domain/catalog/catalog.ts'
import { isFinished, type Model, type ModelDraft } from '../../domain/catalog/model.ts'
import type { Provider } from '../../domain/catalog/provider.ts'
import { decodeModel, encodeModel } from '../../domain/catalog/rows/model-row.ts'
import { problemSentence, type Checked } from '../../domain/catalog/rows/problem.ts'
import { decodeStoredProvider, encodeProvider } from '../../domain/catalog/rows/provider-row.ts'
import type { Database } from './database.ts'
import type { SecretBox, SecretKey } from './secrets/secret-box.ts'

/** A catalog as the two stored lists: finished models before drafts, each in the order of the list. */
export type CatalogLists = {
  readonly providers: readonly Provider[]
  readonly models: readonly (Model | ModelDraft)[]
}

export type CatalogTables = {
  /**
   * Reads the stored catalog. A secret that cannot be read is lost. Throws an Error for the operator if a row cannot be read, and if
   * the secret key is another one that is not new.
   */
  load(): Catalog
  /** Writes the difference between two catalogs. Rows that are the same object are unchanged. */
  write(before: Catalog, after: Catalog): void
}

/** The text in `key_check`, and the owner it is bound to. */
const CHECK = 'tollgate'

type StateRow = { revision: bigint; updated_at_ms: bigint; key_check: Uint8Array | null }
type ProviderRow = { id: string; content: string; sealed_secret: Uint8Array | null }
type ModelRow = { id: string; content: string; created_at_ms: bigint }

export function catalogTables(
  database: Database,
  box: SecretBox,
  { isNew }: Pick<SecretKey, 'isNew'>,
): CatalogTables {
  const state = database.prepare<StateRow, []>('SELECT revision, updated_at_ms, key_check FROM catalog_state')
  const putState = database.prepare(
    'UPDATE catalog_state SET revision = ?, updated_at_ms = ?, key_check = ifnull(key_check, ?)',
  )
  const putCheck = database.prepare('UPDATE catalog_state SET key_check = ?')
  const providers = database.prepare<ProviderRow, []>(
    'SELECT id, content, sealed_secret FROM providers ORDER BY position',
  )
  const putProvider = database.prepare(
    'INSERT OR REPLACE INTO providers (id, position, content, sealed_secret) VALUES (?, ?, ?, ?)',
  )
  const deleteProvider = database.prepare('DELETE FROM providers WHERE id = ?')
  const models = database.prepare<ModelRow, []>(
    'SELECT id, content, created_at_ms FROM models ORDER BY position',
  )
  const putModel = database.prepare(
    'INSERT OR REPLACE INTO models (id, position, content, created_at_ms) VALUES (?, ?, ?, ?)',
  )
  const deleteModel = database.prepare('DELETE FROM models WHERE id = ?')

  return {
    load() {
      const stored = state.get()
      if (stored === null)
        throw new Error('The catalog has lost its state. Restore the data folder from a backup.')
      const rows = providers.all()
      if (stored.key_check !== null && box.open(stored.key_check, CHECK) === undefined) {
        if (!isNew && opensNone(rows, box)) throw wrongKey()
        putCheck.run(box.seal(CHECK, CHECK))
      }
      return catalogOf(
        {
          providers: rows.map(row => readProvider(row, box)),
          models: models.all().map(readModel),
        },
        { revision: Number(stored.revision), updatedAtMs: Number(stored.updated_at_ms) },
      )
    },
    write(before, after) {
      const from = listsOf(before)
      const to = listsOf(after)
      for (const { id } of removed(from.providers, after.providers)) deleteProvider.run(id)
      for (const [position, provider] of changed(from.providers, to.providers)) {
        const sealed =
          provider.secret.from === 'literal' ? box.seal(provider.secret.value, provider.id) : null
        putProvider.run(provider.id, position, JSON.stringify(encodeProvider(provider)), sealed)
      }
      const rows = new Map(to.models.map(row => [row.id, row]))
      for (const { id } of removed(from.models, rows)) deleteModel.run(id)
      for (const [position, row] of changed(from.models, to.models)) {
        putModel.run(row.id, position, JSON.stringify(encodeModel(row)), row.createdAtMs)
      }
      putState.run(after.revision, after.updatedAtMs, box.seal(CHECK, CHECK))
    },
  }
}

export function catalogOf(
  { providers, models }: CatalogLists,
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
  }
}

export function listsOf({ providers, models, drafts }: Catalog): CatalogLists {
  return { providers: [...providers.values()], models: [...models.values(), ...drafts.values()] }
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

/** Whether the key opens no secret. `key_check` is not enough: it may be of a key that was created while this one was missing. */
function opensNone(rows: readonly ProviderRow[], box: SecretBox): boolean {
  const sealed = rows.filter(row => row.sealed_secret !== null)
  return sealed.length > 0 && !sealed.some(row => openSecret(row, box) !== undefined)
}

function openSecret({ id, sealed_secret }: ProviderRow, box: SecretBox): string | undefined {
  return sealed_secret === null ? undefined : box.open(sealed_secret, id)
}

function readProvider(row: ProviderRow, box: SecretBox): Provider {
  const { secret, ...provider } = valid(`provider "${row.id}"`, decodeStoredProvider(JSON.parse(row.content)))
  if (secret.from !== 'keep') return { ...provider, secret }
  const value = openSecret(row, box)
  return { ...provider, secret: value === undefined ? { from: 'lost' } : { from: 'literal', value } }
}

function readModel({ id, content, created_at_ms }: ModelRow): Model | ModelDraft {
  const settings = valid(`model "${id}"`, decodeModel(JSON.parse(content)))
  return { ...settings, createdAtMs: Number(created_at_ms) }
}

function valid<T>(thing: string, decoded: Checked<T>): T {
  if (decoded.ok) return decoded.value
  const problems = decoded.problems.map(problem => problemSentence(problem, 'The row')).join(' ')
  throw new Error(`The stored ${thing} cannot be read by this version of tollgate: ${problems}`)
}

function wrongKey(): Error {
  return new Error(
    'The provider keys in this data folder were encrypted under another secret.key. Put back the secret.key that belongs to it. ' +
      'If that is lost, delete this one: the next start makes another, and the keys have to be entered again.',
  )
}
