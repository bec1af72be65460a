import { checked, problemSentence, report, type Checked, type Path } from '../catalog/rows/problem.ts'
import { definedOnly, describe, openRow, refuseUnknownFields, type Place } from '../catalog/rows/row.ts'
import { encodeLimitsPatch, encodeTerms, readTerms } from '../limits/limits-row.ts'
import { NO_TERMS, patchTerms, type Terms, type TermsPatch } from '../limits/scope.ts'
import {
  encodeKeySettings,
  readOrNull,
  readRestrictions,
  type KeySettings,
  type Restrictions,
} from './key-settings.ts'

/** The settings of new keys. A default that is absent restricts nothing. */
type DefaultSettings = Restrictions & {
  /** How long after its creation a key expires. */
  readonly expiresInMs?: number
}

/** What new keys begin with: their limits, budgets and settings. */
export type NewKeyDefaults = Terms & { readonly settings: DefaultSettings }

/** A change of defaults. Null removes one, and an absent one stays. */
export type NewKeyDefaultsPatch = TermsPatch & {
  readonly settings?: { readonly [Name in keyof DefaultSettings]?: DefaultSettings[Name] | null }
}

export const NO_KEY_DEFAULTS: NewKeyDefaults = { ...NO_TERMS, settings: {} }

/** The names of the defaults in the admin API. */
export const keyDefaultFields = [
  'limits',
  'budgets',
  'models',
  'routes',
  'expires_in',
  'allowed_addresses',
] as const

/** The change that removes all defaults. */
export const WITHOUT_DEFAULTS: NewKeyDefaultsPatch = {
  limits: null,
  budgets: null,
  settings: { models: null, routes: null, expiresInMs: null, allowedAddresses: null },
}

const MS_A_SECOND = 1000
/** Ten years. */
export const EXPIRES_IN_S_MAX = 315_360_000

/** Checks a change of defaults in the format of the admin API. `path` is its place in the body. */
export function decodeKeyDefaults(value: unknown, path: Path = []): Checked<NewKeyDefaultsPatch> {
  return checked(problems => {
    const row = openRow(value, { path, problems }, `write an object with ${keyDefaultFields.join(', ')}`)
    if (row === undefined) return undefined
    refuseUnknownFields(row, 'the defaults of new keys', keyDefaultFields)
    const expiresInMs = readOrNull(row, 'expires_in', readDuration)
    return { ...readTerms(row), settings: definedOnly({ ...readRestrictions(row), expiresInMs }) }
  })
}

/** The defaults after a change. */
export function patchKeyDefaults(defaults: NewKeyDefaults, patch: NewKeyDefaultsPatch): NewKeyDefaults {
  const settings = Object.entries({ ...defaults.settings, ...patch.settings })
  return {
    ...patchTerms(defaults, patch),
    settings: Object.fromEntries(settings.filter(([, value]) => value !== null)),
  }
}

/** The settings of a key that is created with these defaults at a time. */
export function settingsOfNewKey({ settings }: NewKeyDefaults, nowMs: number): KeySettings {
  const { expiresInMs, ...restrictions } = settings
  return { ...restrictions, ...(expiresInMs !== undefined && { expiresAtMs: nowMs + expiresInMs }) }
}

/** The defaults in the format of the admin API, with null for what is not restricted. */
export function encodeKeyDefaults({ settings, ...terms }: NewKeyDefaults): Record<string, unknown> {
  const { expires_at: _, ...restrictions } = encodeKeySettings(settings)
  const { expiresInMs } = settings
  return {
    ...encodeTerms(terms),
    ...restrictions,
    expires_in: expiresInMs === undefined ? null : expiresInMs / MS_A_SECOND,
  }
}

/** The stored form of defaults: the same defaults have the same text. */
export function writeKeyDefaults(defaults: NewKeyDefaults): string {
  const { limits: _, budgets: __, ...settings } = encodeKeyDefaults(defaults)
  const set = Object.entries(settings).filter(([, value]) => value !== null)
  return JSON.stringify({ ...encodeLimitsPatch(defaults), ...Object.fromEntries(set) })
}

/** Defaults that `writeKeyDefaults` wrote. Throws a RangeError for others: the store is damaged. */
export function readKeyDefaults(text: string): NewKeyDefaults {
  const decoded = decodeKeyDefaults(JSON.parse(text))
  if (!decoded.ok) throw new RangeError(decoded.problems.map(problem => problemSentence(problem)).join(' '))
  return patchKeyDefaults(NO_KEY_DEFAULTS, decoded.value)
}

function readDuration(value: unknown, { path, problems }: Place): number | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= EXPIRES_IN_S_MAX)
    return value * MS_A_SECOND
  const remedy = `write a whole number of seconds from 1 to ${EXPIRES_IN_S_MAX}, or null for keys that do not expire`
  report(problems, { path, message: describe(value), remedy })
  return undefined
}
