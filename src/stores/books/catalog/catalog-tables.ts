import type { Catalog } from '../../../domain/catalog/catalog.ts'
import {
  isFinished,
  type AnyModelSettings,
  type Model,
  type ModelDraft,
} from '../../../domain/catalog/model.ts'
import type { PriceList } from '../../../domain/catalog/price-list.ts'
import type { Provider } from '../../../domain/catalog/provider.ts'
import { decodeModel, encodeModel } from '../../../domain/catalog/rows/model-row.ts'
import { decodePriceList, encodePriceList } from '../../../domain/catalog/rows/price-list-row.ts'
import { problemSentence, type Checked } from '../../../domain/catalog/rows/problem.ts'
import { decodeStoredProvider, encodeProvider } from '../../../domain/catalog/rows/provider-row.ts'
import type { Audit } from '../../../gateway/ports/access/audit.ts'
import type { SqlValue } from '../rows/canonical.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { all, first, run, type Step } from '../steps.ts'
import { completeKeyCheck, type Sealing } from './key-check.ts'

/** A catalog as the stored lists: finished models before drafts, each in the order of the list. */
export type CatalogLists = {
  readonly providers: readonly Provider[]
  readonly models: readonly (Model | ModelDraft)[]
  readonly priceLists: readonly PriceList[]
}

type StateRow = { revision: bigint; updated_at_ms: bigint }
type ModelRow = RowContent & { created_at_ms: bigint }

/** The stored revision. Its time tells it from another one of its number, which a failover lost. */
export type StoredRevision = Pick<Catalog, 'revision' | 'updatedAtMs'>

export function* readRevision(): Step<StoredRevision> {
  const { revision, updated_at_ms: updatedAtMs } = yield* readState()
  return { revision: Number(revision), updatedAtMs: Number(updatedAtMs) }
}

export function isSameRevision(a: StoredRevision, b: StoredRevision): boolean {
  return a.revision === b.revision && a.updatedAtMs === b.updatedAtMs
}

/**
 * Reads the stored catalog. A secret that cannot be read is lost. Throws an Error for the operator if a row cannot be
 * read.
 */
export function* readCatalog(box: SecretBox): Step<Catalog> {
  const revision = yield* readRevision()
  const providers = yield* readSealedProviders()
  const models = yield* all<ModelRow>('SELECT id, content, created_at_ms FROM models ORDER BY position')
  const priceLists = yield* all<RowContent>('SELECT id, content FROM price_lists ORDER BY position')
  return catalogOf(
    {
      providers: providers.map(row => readProvider(row, box)),
      models: models.map(readModel),
      priceLists: priceLists.map(readPriceListContent),
    },
    revision,
  )
}

function readSealedProviders(): Step<readonly ProviderContent[]> {
  return all('SELECT id, content, sealed_secret FROM providers ORDER BY position')
}

function* readState(): Step<StateRow> {
  const state = yield* first<StateRow>('SELECT revision, updated_at_ms FROM catalog_state')
  if (state === undefined) throw new Error('The catalog has lost its state. Restore the books from a backup.')
  return state
}

/**
 * Writes the difference between two catalogs, also as a revision of the history. Rows that are the same object are
 * unchanged.
 */
export function* writeCatalog(
  before: Catalog,
  after: Catalog,
  { audit, sealing }: { readonly audit: Audit; readonly sealing: Sealing },
): Step<void> {
  const { revision, updatedAtMs } = after
  const { actor, action, subject, atMs } = audit
  yield* run(
    'INSERT INTO catalog_revisions (revision, actor, action, subject, at_ms) VALUES (?, ?, ?, ?, ?)',
    revision,
    actor,
    action,
    subject,
    atMs,
  )
  const from = listsOf(before)
  const to = listsOf(after)
  yield* writeProviders(from.providers, to.providers, { revision, box: sealing.box })
  yield* writeModels(from.models, to.models, revision)
  yield* writePriceLists(from.priceLists, to.priceLists, revision)
  yield* run('UPDATE catalog_state SET revision = ?, updated_at_ms = ?', revision, updatedAtMs)
  yield* completeKeyCheck(sealing)
}

function* writeProviders(
  from: readonly Provider[],
  to: readonly Provider[],
  { revision, box }: { readonly revision: number; readonly box: SecretBox },
): Step<void> {
  const gone = removed(from, to)
  const put = changed(from, to).map(([position, provider]) => {
    const { id, secret } = provider
    const sealed = secret.from === 'literal' ? box.seal(secret.value, id) : null
    return [id, position, JSON.stringify(encodeProvider(provider)), sealed, revision] as const
  })
  yield* runForRows(
    gone.map(id => [id]),
    tuples => `DELETE FROM providers WHERE id IN (VALUES ${tuples})`,
  )
  yield* runForRows(
    put.map(row => row.slice(0, -1)),
    tuples => `INSERT INTO providers (id, position, content, sealed_secret) VALUES ${tuples}
      ON CONFLICT (id) DO UPDATE SET position = excluded.position, content = excluded.content,
        sealed_secret = excluded.sealed_secret`,
  )
  yield* runForRows(
    [...gone.map(id => [id, 0, null, null, revision] as const), ...put],
    tuples =>
      `INSERT INTO provider_versions (id, position, content, sealed_secret, revision) VALUES ${tuples}`,
  )
}

type AnyModel = Model | ModelDraft

function* writeModels(from: readonly AnyModel[], to: readonly AnyModel[], revision: number): Step<void> {
  const gone = removed(from, to)
  const put = changed(from, to).map(([position, model]) => {
    const content = JSON.stringify(encodeModel(model))
    return { id: model.id, position, content, createdAtMs: model.createdAtMs }
  })
  yield* runForRows(
    gone.map(id => [id]),
    tuples => `DELETE FROM models WHERE id IN (VALUES ${tuples})`,
  )
  yield* runForRows(
    put.map(({ id, position, content, createdAtMs }) => [id, position, content, createdAtMs]),
    tuples => `INSERT INTO models (id, position, content, created_at_ms) VALUES ${tuples}
      ON CONFLICT (id) DO UPDATE SET position = excluded.position, content = excluded.content,
        created_at_ms = excluded.created_at_ms`,
  )
  yield* runForRows(
    [
      ...gone.map(id => [id, 0, null, revision] as const),
      ...put.map(({ id, position, content }) => [id, position, content, revision] as const),
    ],
    tuples => `INSERT INTO model_versions (id, position, content, revision) VALUES ${tuples}`,
  )
}

function* writePriceLists(
  from: readonly PriceList[],
  to: readonly PriceList[],
  revision: number,
): Step<void> {
  const gone = removed(from, to)
  const put = changed(from, to).map(
    ([position, list]) => [list.id, position, JSON.stringify(encodePriceList(list)), revision] as const,
  )
  yield* runForRows(
    gone.map(id => [id]),
    tuples => `DELETE FROM price_lists WHERE id IN (VALUES ${tuples})`,
  )
  yield* runForRows(
    put.map(row => row.slice(0, -1)),
    tuples => `INSERT INTO price_lists (id, position, content) VALUES ${tuples}
      ON CONFLICT (id) DO UPDATE SET position = excluded.position, content = excluded.content`,
  )
  yield* runForRows(
    [...gone.map(id => [id, 0, null, revision] as const), ...put],
    tuples => `INSERT INTO price_list_versions (id, position, content, revision) VALUES ${tuples}`,
  )
}

/** One statement a row would make the charges of the node wait for the import of a large catalog. */
const ROWS_A_STATEMENT = 100

/** Runs a statement for many rows of values. Its text gets a tuple of question marks for each row. */
function* runForRows(rows: readonly (readonly SqlValue[])[], text: (tuples: string) => string): Step<void> {
  for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT) {
    const piece = rows.slice(start, start + ROWS_A_STATEMENT)
    const tuples = piece.map(row => `(${row.map(() => '?').join(', ')})`).join(', ')
    yield* run(text(tuples), ...piece.flat())
  }
}

/**
 * Inside the step that gives a price list to an account: whether there is such a list. It cannot be removed before the
 * step is committed.
 */
export function* keepPriceList(id: string): Step<boolean> {
  return (yield* first('UPDATE price_lists SET id = id WHERE id = ? RETURNING id', id)) !== undefined
}

/** A stored row that this version cannot read, such as one that a newer version wrote. */
export class UnreadableRowError extends Error {}

export function catalogOf(
  { providers, models, priceLists }: CatalogLists,
  { revision, updatedAtMs }: StoredRevision,
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

/** The ids of the rows that are not in the other list. */
function removed<Row extends { readonly id: string }>(
  before: readonly Row[],
  after: readonly Row[],
): readonly string[] {
  const kept = new Set(after.map(({ id }) => id))
  return before.flatMap(({ id }) => (kept.has(id) ? [] : [id]))
}

/** The rows that are new, changed or at another place, with their places. */
function changed<Row>(before: readonly Row[], after: readonly Row[]): [number, Row][] {
  return [...after.entries()].filter(([position, row]) => before[position] !== row)
}

/**
 * Whether the key of a box opens no secret. The check is not enough: it may be of a key that was created while this one
 * was missing.
 */
export function* opensNoSecret(box: SecretBox): Step<boolean> {
  const sealed = (yield* readSealedProviders()).filter(row => row.sealed_secret !== null)
  return sealed.length > 0 && !sealed.some(row => openSecret(row, box) !== undefined)
}

function readModel(row: ModelRow): Model | ModelDraft {
  return { ...readModelContent(row), createdAtMs: Number(row.created_at_ms) }
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
  throw new UnreadableRowError(`The stored ${thing} cannot be read by this version of tollgate: ${problems}`)
}
