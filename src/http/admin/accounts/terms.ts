import type { KeyPatch } from '../../../domain/accounts/api-key.ts'
import { decodeKeySettings, keySettingFields } from '../../../domain/accounts/key-settings.ts'
import { missingModels } from '../../../domain/catalog/missing-models.ts'
import {
  decodeLimitsPatch,
  decodeTermsPatch,
  limitFields,
  type LimitsPatch,
} from '../../../domain/limits/limits-row.ts'
import type { TermsPatch } from '../../../domain/limits/scope.ts'
import { refuseEmpty, valueOf, wrongField, type Fields } from '../body.ts'
import type { AccountPorts } from '../ports.ts'

/** The members of a body that change limits. Throws `invalid_field` if there are none, and for a wrong one. */
export function limitsField(fields: Fields): LimitsPatch {
  refuseEmpty(fields, limitFields)
  return valueOf(decodeLimitsPatch(fields))
}

/** The fields that change what a key may use. */
export const keyTermFields = [...keySettingFields, ...limitFields] as const

/**
 * The members of a body that say what a key may use. Throws `invalid_field` for a wrong one, and for an expiry that has
 * passed: it is probably a mistake, and `disabled` ends a key at once.
 */
export function keyTerms(fields: Fields, nowMs: number): Pick<KeyPatch, 'settings' | 'limits'> {
  const named = membersOf(fields, keySettingFields)
  const settings = named && valueOf(decodeKeySettings(named))
  const limits = membersOf(fields, limitFields)
  if (typeof settings?.expiresAtMs === 'number' && settings.expiresAtMs <= nowMs)
    throw wrongField('expires_at', 'must be in the future; to end a key now, disable it')
  return {
    ...(settings !== undefined && { settings }),
    ...(limits !== undefined && { limits: valueOf(decodeLimitsPatch(limits)) }),
  }
}

/** What `readFields` says about limits for single models, in a body whose subject has none. */
export const ELSEWHERE = {
  per_model: 'is not a field of this request; set limits for a model on an account or on a key',
}

/**
 * The members of a body that change the limits of a `thing` that has none for single models. There may be none.
 */
export function termsField(fields: Fields, thing: string): TermsPatch {
  return valueOf(decodeTermsPatch(fields, thing))
}

/** What the reply to a change says about models that the catalog does not have. */
export function warningsOf(
  { settings, limits }: { readonly settings?: NamedSettings; readonly limits?: LimitsPatch | undefined },
  { catalog }: Pick<AccountPorts, 'catalog'>,
): { readonly warnings: readonly string[] } {
  const named = { patterns: settings?.models, perModel: limits?.perModel }
  return { warnings: missingModels(catalog.current(), named) }
}

type NamedSettings = { readonly models?: readonly string[] | null } | undefined

/** Those of the members that have one of the names; undefined if there are none. */
export function membersOf(fields: Fields, names: readonly string[]): Fields | undefined {
  const named = Object.entries(fields).filter(([name]) => names.includes(name))
  return named.length === 0 ? undefined : Object.fromEntries(named)
}
