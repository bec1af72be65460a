import { checkList, checkOneOf, checkText } from '../catalog/rows/fields.ts'
import { checked, problemSentence, report, type Checked } from '../catalog/rows/problem.ts'
import {
  definedOnly,
  describe,
  openRow,
  placeOf,
  refuseUnknownFields,
  type Place,
  type Row,
} from '../catalog/rows/row.ts'
import { parseTime } from '../rfc-3339.ts'
import { readAddressRange, type AddressRange } from './address-range.ts'

/** The groups of routes that a key can be restricted to. Reads of jobs belong to the group that creates them. */
export const keyRoutes = [
  'chat_completions',
  'responses',
  'messages',
  'embeddings',
  'images',
  'videos',
] as const
export type KeyRoute = (typeof keyRoutes)[number]

/** What a key may be used for. A restriction that is absent restricts nothing. */
export type Restrictions = {
  /** Ids of models. `*` stands for any characters. */
  readonly models?: readonly string[]
  readonly routes?: readonly KeyRoute[]
  /** Where requests may come from. */
  readonly allowedAddresses?: readonly AddressRange[]
}

/** What a key may be used for, and until when. A setting that is absent restricts nothing. */
export type KeySettings = Restrictions & {
  /** From this time on, requests are refused. Running ones end as usual. */
  readonly expiresAtMs?: number
}

/** A change of some settings. Null removes one, and an absent one stays. */
export type KeySettingsPatch = { readonly [Name in keyof KeySettings]?: KeySettings[Name] | null }

/** The names of the settings in the admin API. */
export const keySettingFields = ['models', 'routes', 'expires_at', 'allowed_addresses'] as const

/** The checks of a key compare with each item in turn. */
const ITEMS_MAX = 100
const modelPattern = {
  pattern: /^(?=.{1,128}$)[A-Za-z0-9*][A-Za-z0-9._:@+*/-]*$/,
  remedy: 'write the id of a model, or a pattern such as "gpt-*"',
}

/** Checks a change of settings in the format of the admin API. */
export function decodeKeySettings(value: unknown): Checked<KeySettingsPatch> {
  return checked(problems => {
    const remedy = `write an object with ${keySettingFields.join(', ')}`
    const row = openRow(value, { path: [], problems }, remedy)
    if (row === undefined) return undefined
    refuseUnknownFields(row, 'the settings of a key', keySettingFields)
    return definedOnly({ ...readRestrictions(row), expiresAtMs: readOrNull(row, 'expires_at', readExpiry) })
  })
}

/** The restrictions that a row names. */
export function readRestrictions(row: Row): Omit<KeySettingsPatch, 'expiresAtMs'> {
  return definedOnly({
    models: listOrNull(row, 'models', 'write a list of models such as ["gpt-*"]', (item, place) =>
      checkText(item, modelPattern, place),
    ),
    routes: listOrNull(row, 'routes', `write a list of ${keyRoutes.join(', ')}`, (item, place) =>
      checkOneOf(item, keyRoutes, place),
    ),
    allowedAddresses: listOrNull(
      row,
      'allowed_addresses',
      'write a list of addresses and ranges such as ["10.0.0.0/8"]',
      readRange,
    ),
  })
}

/** The settings after a change; undefined if none is left. */
export function patchKeySettings(
  settings: KeySettings | undefined,
  patch: KeySettingsPatch,
): KeySettings | undefined {
  const left = Object.entries({ ...settings, ...patch }).filter(([, value]) => value !== null)
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** The settings in the format of the admin API, with null for what is not restricted. */
export function encodeKeySettings({ models, routes, expiresAtMs, allowedAddresses }: KeySettings): {
  readonly [Field in (typeof keySettingFields)[number]]: string | readonly string[] | null
} {
  return {
    models: models ?? null,
    routes: routes ?? null,
    expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
    allowed_addresses: allowedAddresses?.map(({ text }) => text) ?? null,
  }
}

/** A change of settings in the format of the admin API, with only the members that it names. */
export function encodeKeySettingsPatch(patch: KeySettingsPatch): Record<string, unknown> {
  const { models, routes, expiresAtMs, allowedAddresses } = patch
  return definedOnly({
    models,
    routes,
    expires_at: typeof expiresAtMs === 'number' ? new Date(expiresAtMs).toISOString() : expiresAtMs,
    allowed_addresses: allowedAddresses && allowedAddresses.map(({ text }) => text),
  })
}

/** The stored form of settings: the same settings have the same text. Null without any. */
export function writeKeySettings(settings: KeySettings | undefined): string | null {
  return settings === undefined ? null : JSON.stringify(encodeKeySettings(settings))
}

/** Settings that `writeKeySettings` wrote. Throws a RangeError for others: the store is damaged. */
export function readKeySettings(text: string): KeySettings | undefined {
  const decoded = decodeKeySettings(JSON.parse(text))
  if (!decoded.ok) throw new RangeError(decoded.problems.map(problem => problemSentence(problem)).join(' '))
  return patchKeySettings(undefined, decoded.value)
}

/** The value of a field: null if the field is null, undefined if it is absent or wrong. */
export function readOrNull<Value>(
  row: Row,
  field: string,
  read: (value: unknown, place: Place) => Value | undefined,
): Value | null | undefined {
  if (!Object.hasOwn(row.values, field)) return undefined
  const value = row.values[field]
  return value === null ? null : read(value, placeOf(row, field))
}

/** An empty list is refused: it could mean everything or nothing. */
function listOrNull<Item>(
  row: Row,
  field: string,
  remedy: string,
  readItem: (value: unknown, place: Place) => Item | undefined,
): readonly Item[] | null | undefined {
  const hint = { max: ITEMS_MAX, remedy: `${remedy}, or null for no restriction` }
  return readOrNull(row, field, (value, place) => checkList(value, place, hint, readItem))
}

function readExpiry(value: unknown, { path, problems }: Place): number | undefined {
  const atMs = typeof value === 'string' ? parseTime(value) : undefined
  if (atMs !== undefined) return atMs
  const remedy = 'write a time such as "2027-01-01T00:00:00Z", or null for a key that does not expire'
  report(problems, { path, message: describe(value), remedy })
  return undefined
}

function readRange(value: unknown, { path, problems }: Place): AddressRange | undefined {
  const read = readAddressRange(typeof value === 'string' ? value : '')
  if (read.ok) return read.range
  report(problems, { path, message: describe(value), remedy: read.remedy })
  return undefined
}
