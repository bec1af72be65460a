import type { Form } from '../forms/form.ts'

export type Setting = Form<unknown> & {
  /** The environment variable. */
  readonly name: string
  /** The value of an unset variable; null if an unset variable means that the setting is absent. */
  readonly default: string | null
  /** What the setting does, for the docs and `--help`. Says what unset means if the default is null. */
  readonly meaning: string
  /** The name of a setting whose value an unset variable takes over, if that one is set. */
  readonly follows?: string
  /** The value is never shown. */
  readonly isSecret?: true
}

/** A setting whose text is parsed to this value. It has a default if and only if the value is required. */
type SettingOf<Value> = Setting &
  Form<NonNullable<Value>> & { readonly default: undefined extends Value ? null : string }

/** The settings of one part of the configuration. */
export type SettingsOf<Part> = { readonly [Key in keyof Part]: SettingOf<Part[Key]> }

/** A longer time is most likely a wrong unit. */
export const DAY_S = 86_400
/** A limit of 0 would fail every request. */
export const TIMEOUT_S_MIN = 0.001
export const RETENTION_DAYS_MAX = 36_500
