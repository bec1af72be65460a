import type { Catalog, CatalogSettings } from '../catalog.ts'
import { modelKinds, type AnyModelSettings, type ModelKind } from '../model.ts'
import type { PriceList } from '../price-list.ts'
import { encodeModel, readModel } from './model-row.ts'
import { nearest } from './nearest.ts'
import { checked, formatPath, report, type Checked, type RowProblem } from './problem.ts'
import {
  encodePriceList,
  kindsOf,
  PRICE_LISTS,
  readPriceList,
  refuseUnfitPrices,
  type ModelKinds,
} from './price-list-row.ts'
import { encodeProvider, readProvider } from './provider-row.ts'
import {
  describe,
  fieldOf,
  openRow,
  placeOf,
  quote,
  refuseUnknownFields,
  reportField,
  reportMissing,
  type Place,
  type Row,
} from './row.ts'

/** Limits for the cost of one edit. They do not affect requests: a request finds its row by hash. */
const PROVIDERS_MAX = 1_000
const MODELS_MAX = 10_000
const PRICE_LISTS_MAX = 1_000

/** Checks a whole catalog in the format of the catalog file: each row, and the references between rows. */
export function decodeCatalog(value: unknown): Checked<CatalogSettings> {
  return checked(problems => readCatalog(value, { path: [], problems }))
}

/** The whole catalog in the format of the catalog file. `decodeCatalog` reads it back as the same catalog. */
export function encodeCatalog({ providers, models, drafts, priceLists }: Catalog): {
  providers: object[]
  models: object[]
  price_lists?: object[]
} {
  return {
    providers: [...providers.values()].map(encodeProvider),
    models: [...models.values(), ...drafts.values()].map(encodeModel),
    ...(priceLists.size > 0 && { [PRICE_LISTS]: [...priceLists.values()].map(encodePriceList) }),
  }
}

/** Reports each upstream of a model whose provider is not known. */
export function refuseUnknownProviders(
  model: Pick<AnyModelSettings, 'upstreams'>,
  known: ReadonlySet<string>,
  { path, problems }: Place,
): void {
  for (const [index, { provider }] of model.upstreams.entries()) {
    if (known.has(provider)) continue
    const meant = nearest(provider, [...known])
    report(problems, {
      path: [...path, 'upstreams', index, 'provider'],
      message: `is ${quote(provider)}, which is not a provider of this catalog`,
      remedy: meant === undefined ? 'write the id of one of its providers' : `did you mean ${quote(meant)}?`,
    })
  }
}

/** A whole catalog with its price lists. */
type WholeSettings = CatalogSettings & { readonly priceLists: readonly PriceList[] }

/**
 * The problems between the rows of a catalog: an id that two rows have, an unknown provider, or the price of an unknown
 * model or of another kind of model.
 */
export function inconsistenciesOf({ providers, models, priceLists }: WholeSettings): readonly RowProblem[] {
  const problems: RowProblem[] = []
  const ids = providers.map(({ id }) => id)
  refuseRepeatedIds(ids, { path: ['providers'], problems })
  refuseRepeatedIds(
    models.map(({ id }) => id),
    { path: ['models'], problems },
  )
  const known = new Set(ids)
  for (const [index, model] of models.entries()) {
    refuseUnknownProviders(model, known, { path: ['models', index], problems })
  }
  refuseRepeatedIds(
    priceLists.map(({ id }) => id),
    { path: [PRICE_LISTS], problems },
  )
  const kinds = kindsOf(models)
  for (const [index, list] of priceLists.entries())
    refuseUnfitPrices(list, kinds, { path: [PRICE_LISTS, index], problems })
  return problems
}

function readCatalog(value: unknown, place: Place): CatalogSettings | undefined {
  const row = openRow(value, place, 'write "providers:" and "models:", each with a list')
  if (row === undefined) return undefined
  refuseUnknownFields(row, 'a catalog', ['providers', 'models', PRICE_LISTS])
  const providers = readRows(row, 'providers', PROVIDERS_MAX, readProvider)
  const models = readRows(row, 'models', MODELS_MAX, readModel)
  // A model may name a provider whose row has other problems.
  const ids = idsOf(row, 'providers')
  const known = new Set(ids.filter(id => id !== undefined))
  for (const { index, item } of models) {
    refuseUnknownProviders(item, known, { path: ['models', index], problems: row.problems })
  }
  refuseRepeatedIds(ids, placeOf(row, 'providers'))
  refuseRepeatedIds(idsOf(row, 'models'), placeOf(row, 'models'))
  const rows = { providers: providers.map(({ item }) => item), models: models.map(({ item }) => item) }
  // A file without price lists keeps the stored ones, as every file that is older than them.
  if (fieldOf(row, PRICE_LISTS) === undefined) return rows
  const lists = readRows(row, PRICE_LISTS, PRICE_LISTS_MAX, readPriceList)
  const kinds = writtenKindsOf(row)
  for (const { index, item } of lists)
    refuseUnfitPrices(item, kinds, { path: [PRICE_LISTS, index], problems: row.problems })
  refuseRepeatedIds(idsOf(row, PRICE_LISTS), placeOf(row, PRICE_LISTS))
  return { ...rows, priceLists: lists.map(({ item }) => item) }
}

/** The kinds of the models as they were written. A price list may name a model whose row has other problems. */
function writtenKindsOf(row: Row): ModelKinds {
  const value = fieldOf(row, 'models')
  const kinds = new Map<string, ModelKind | undefined>()
  if (!Array.isArray(value)) return kinds
  for (const [index, id] of idsOf(row, 'models').entries()) {
    if (id === undefined) continue
    const written: unknown = Reflect.get(value[index] as object, 'kind')
    kinds.set(
      id,
      modelKinds.find(known => known === written),
    )
  }
  return kinds
}

type Read<T> = { readonly index: number; readonly item: T }

function readRows<T>(
  row: Row,
  field: string,
  max: number,
  readRow: (value: unknown, place: Place) => T | undefined,
): Read<T>[] {
  const remedy = `write a list, or ${field}: [] for none`
  const value = fieldOf(row, field)
  if (!Array.isArray(value)) {
    // A missing list may mean that the file was truncated. It must not empty the catalog.
    if (value === undefined) reportMissing(row, field, remedy)
    else reportField(row, field, { message: describe(value), remedy })
    return []
  }
  if (value.length > max) {
    reportField(row, field, { message: `has ${value.length} rows`, remedy: `write at most ${max}` })
    return []
  }
  return value.flatMap((entry, index) => {
    const item = readRow(entry, { path: [field, index], problems: row.problems })
    return item === undefined ? [] : [{ index, item }]
  })
}

function refuseRepeatedIds(ids: readonly (string | undefined)[], { path, problems }: Place): void {
  const seen = new Map<string, number>()
  for (const [index, id] of ids.entries()) {
    if (id === undefined) continue
    const first = seen.get(id)
    if (first === undefined) {
      seen.set(id, index)
      continue
    }
    const message = `is ${quote(id)}, which is already the id of ${formatPath([...path, first])}`
    report(problems, { path: [...path, index, 'id'], message, remedy: 'give each row its own id' })
  }
}

/** The ids as they were written, one for each entry; undefined for an entry without one. */
function idsOf(row: Row, field: string): (string | undefined)[] {
  const value = fieldOf(row, field)
  if (!Array.isArray(value) || value.length > MODELS_MAX) return []
  return value.map(entry => {
    const id: unknown = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'id') : undefined
    return typeof id === 'string' ? id : undefined
  })
}
