import { GatewayError } from '../errors.ts'
import type { Catalog, CatalogSettings } from './catalog.ts'
import type { AnyModelSettings } from './model.ts'
import type { ProviderSettings } from './provider.ts'
import type { PriceList } from './price-list.ts'
import { encodePriceList } from './rows/price-list-row.ts'
import { encodeModel } from './rows/model-row.ts'
import { encodeProvider } from './rows/provider-row.ts'

/** A field of a row, such as `pricing.input_per_mtok`. A value is undefined if the row does not have the field. */
export type FieldChange = { readonly field: string; readonly before: unknown; readonly after: unknown }

/** The kinds of rows of a catalog, and the words for them. */
export const rowWords = { provider: 'provider', model: 'model', price_list: 'price list' } as const
export type RowKind = keyof typeof rowWords
/** In the order of lists of changes. */
export const rowKinds = ['provider', 'model', 'price_list'] as const satisfies readonly RowKind[]

export type RowChange = {
  readonly kind: RowKind
  readonly id: string
  readonly change: 'added' | 'changed' | 'removed'
  /** The fields that differ; none unless the row is changed. Secrets are not shown. */
  readonly fields: readonly FieldChange[]
  /** The change removes a stored key of the provider. Replacing it by another key is not a loss. */
  readonly losesKey: boolean
}

export type CatalogChanges = {
  /** Providers, models, price lists; each in the order of the new catalog, and removed ones last. */
  readonly rows: readonly RowChange[]
  /** Whether rows that both catalogs have are in another order. */
  readonly isReordered: boolean
}

/** The rows of each kind. */
export type RowOf = {
  readonly provider: ProviderSettings
  readonly model: AnyModelSettings
  readonly price_list: PriceList
}

/** What one edit of the catalog did with a row. A row that `moved` has another place in its list, and nothing else. */
export type RowEdit = Pick<RowChange, 'fields' | 'losesKey'> & {
  readonly change: RowChange['change'] | 'moved'
}

/** How a version of a row differs from the one before it. Undefined is a row that is not in the catalog. */
export function rowEdit<Kind extends RowKind>(
  kind: Kind,
  before: RowOf[Kind] | undefined,
  after: RowOf[Kind] | undefined,
): RowEdit {
  const compare: (before: RowOf[Kind] | undefined, after: RowOf[Kind] | undefined) => Change = compared[kind]
  const { fields, losesKey } = compare(before, after)
  if (after === undefined) return { change: 'removed', fields, losesKey }
  if (before === undefined) return { change: 'added', fields, losesKey }
  return { change: fields.length === 0 ? 'moved' : 'changed', fields, losesKey }
}

/** The differences between two catalogs. */
export function catalogChanges(before: Catalog, after: Catalog): CatalogChanges {
  return changesBetween(rowsOf(before), rowsOf(after))
}

/** The differences between two revisions of the history. */
export function revisionChanges(before: CatalogSettings, after: CatalogSettings): CatalogChanges {
  return changesBetween(rowsOfSettings(before), rowsOfSettings(after))
}

type AllRows = {
  readonly providers: Rows<ProviderSettings>
  readonly models: Rows<AnyModelSettings>
  readonly priceLists: Rows<PriceList>
}

function changesBetween(before: AllRows, after: AllRows): CatalogChanges {
  return {
    rows: [
      ...changesOf(before.providers, after.providers, providerChange),
      ...changesOf(before.models, after.models, modelChange),
      ...changesOf(before.priceLists, after.priceLists, priceListChange),
    ],
    isReordered:
      isReordered(before.providers, after.providers) ||
      isReordered(before.models, after.models) ||
      isReordered(before.priceLists, after.priceLists),
  }
}

/**
 * The rows and keys that a change removes, as texts such as `model "x"` and `the stored key of provider "main"`. Rows
 * that only the sandbox serves are left out: no customer pays for them.
 */
export function removalsIn({ rows }: CatalogChanges, before: Catalog): readonly string[] {
  return rows.flatMap(({ kind, id, change, losesKey }) => {
    if (change === 'removed' && !isOfSandbox(before, kind, id)) {
      return [`${rowWords[kind]} ${JSON.stringify(id)}${losesKey ? ' with its stored key' : ''}`]
    }
    return change === 'changed' && losesKey ? [`the stored key of provider ${JSON.stringify(id)}`] : []
  })
}

/** A longer list is not read. `dry_run` shows all. */
const REMOVALS_NAMED_MAX = 10

/** Throws `removals_not_allowed` if the new catalog lacks rows or stored keys of the old one. Names them. */
export function refuseRemovals(before: Catalog, after: Catalog): void {
  const removals = removalsIn(catalogChanges(before, after), before)
  if (removals.length === 0) return
  const named = removals.slice(0, REMOVALS_NAMED_MAX).join(', ')
  const others =
    removals.length > REMOVALS_NAMED_MAX ? ` and ${removals.length - REMOVALS_NAMED_MAX} more` : ''
  const losesKey = removals.some(text => text.startsWith('the stored key'))
  const hint = losesKey ? ' To keep a stored key, write api_key: <stored>.' : ''
  throw new GatewayError(
    'removals_not_allowed',
    `This would remove ${named}${others}, so nothing was changed.${hint}`,
  )
}

/** More names are not read. The history of the catalog has all. */
const NAMED_MAX = 20

/** The names of the rows that an edit changed, for its audit line. Undefined if only their order changed. */
export function changesSentence({ rows }: CatalogChanges): string | undefined {
  const parts = (['added', 'changed', 'removed'] as const).flatMap(change => {
    const names = rows
      .filter(row => row.change === change)
      .map(({ kind, id }) => `${rowWords[kind]} ${JSON.stringify(id)}`)
    if (names.length === 0) return []
    const others = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : ''
    return [`${change} ${names.slice(0, NAMED_MAX).join(', ')}${others}`]
  })
  return parts.length === 0 ? undefined : parts.join('; ')
}

type Change = Pick<RowChange, 'fields' | 'losesKey'> & Pick<RowChange, 'kind'>
type Rows<Row> = ReadonlyMap<string, Row>

function changesOf<Row>(
  before: Rows<Row>,
  after: Rows<Row>,
  compare: (before: Row | undefined, after: Row | undefined) => Change,
): RowChange[] {
  const kept = [...after].flatMap(([id, row]): RowChange[] => {
    const earlier = before.get(id)
    if (earlier === row) return []
    const change = compare(earlier, row)
    if (earlier === undefined) return [{ ...change, id, change: 'added' }]
    return change.fields.length === 0 ? [] : [{ ...change, id, change: 'changed' }]
  })
  const removed = [...before].flatMap(([id, row]): RowChange[] =>
    after.has(id) ? [] : [{ ...compare(row, undefined), id, change: 'removed' }],
  )
  return [...kept, ...removed]
}

function providerChange(before: ProviderSettings | undefined, after: ProviderSettings | undefined): Change {
  const losesKey = before?.secret.from === 'literal' && after?.secret.from !== 'literal'
  if (before === undefined || after === undefined) return { kind: 'provider', fields: [], losesKey }
  const fields = fieldChanges(encodeProvider(before), encodeProvider(after))
  return { kind: 'provider', fields: [...fields, ...anotherKey(before, after)], losesKey }
}

/** Both rows show `<stored>`, but the keys differ. */
function anotherKey({ secret: left }: ProviderSettings, { secret: right }: ProviderSettings): FieldChange[] {
  if (left.from !== 'literal' || right.from !== 'literal' || left.value === right.value) return []
  return [{ field: 'api_key', before: '<stored>', after: '<another key>' }]
}

function modelChange(before: AnyModelSettings | undefined, after: AnyModelSettings | undefined): Change {
  const fields =
    before === undefined || after === undefined ? [] : fieldChanges(encodeModel(before), encodeModel(after))
  return { kind: 'model', fields, losesKey: false }
}

function priceListChange(before: PriceList | undefined, after: PriceList | undefined): Change {
  const fields =
    before === undefined || after === undefined
      ? []
      : fieldChanges(encodePriceList(before), encodePriceList(after))
  return { kind: 'price_list', fields, losesKey: false }
}

const compared: {
  readonly [Kind in RowKind]: (before: RowOf[Kind] | undefined, after: RowOf[Kind] | undefined) => Change
} = { provider: providerChange, model: modelChange, price_list: priceListChange }

/** The differing members of two rows. Mappings are compared member by member, lists as a whole. */
function fieldChanges(before: Members, after: Members, prefix = ''): FieldChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap(name => {
    const [left, right] = [before[name], after[name]]
    const field = prefix + name
    if (isMembers(left) && isMembers(right)) return fieldChanges(left, right, `${field}.`)
    return JSON.stringify(left) === JSON.stringify(right) ? [] : [{ field, before: left, after: right }]
  })
}

type Members = Readonly<Record<string, unknown>>

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isReordered(before: Rows<unknown>, after: Rows<unknown>): boolean {
  const left = [...before.keys()].filter(id => after.has(id))
  const right = [...after.keys()].filter(id => before.has(id))
  return left.some((id, index) => id !== right[index])
}

function rowsOf({ providers, models, drafts, priceLists }: Catalog): AllRows {
  return { providers, models: new Map<string, AnyModelSettings>([...models, ...drafts]), priceLists }
}

function rowsOfSettings({ providers, models, priceLists = [] }: CatalogSettings): AllRows {
  return { providers: byId(providers), models: byId(models), priceLists: byId(priceLists) }
}

function byId<Row extends { readonly id: string }>(rows: readonly Row[]): Rows<Row> {
  return new Map(rows.map(row => [row.id, row]))
}

function isOfSandbox(catalog: Catalog, kind: RowChange['kind'], id: string): boolean {
  const isBox = (provider: string) => catalog.providers.get(provider)?.kind === 'sandbox'
  if (kind === 'provider') return isBox(id)
  if (kind === 'price_list') return false
  const model = catalog.models.get(id) ?? catalog.drafts.get(id)
  return model?.upstreams.every(({ provider }) => isBox(provider)) ?? false
}
