import { refusedVariables } from './refused-variables.ts'
import { settings, type Setting } from './settings.ts'

/** What the operator chose, whole and checked. Frozen. Durations are milliseconds and sizes bytes. */
export type Config = {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** As it was given: relative to the working directory, or absolute. */
  readonly dataDir: string
  /** Without a slash at its end. */
  readonly baseUrl: string | undefined
  readonly adminKey: string | undefined
  /** `acme` in `x-acme-cost-usd`. */
  readonly brand: string
  readonly isSandboxOn: boolean
  readonly catalogFile: string | undefined
  readonly moderationUrl: string | undefined
  readonly moderationKey: string | undefined
  readonly readTimeoutMs: number
  readonly streamIdleTimeoutMs: number
  /** 0 keeps no answer. */
  readonly replayTtlMs: number
  readonly replayBytesMax: number
  readonly reconcileEveryMs: number
  readonly bodyBytesMax: number
  /** 0 refuses at once. */
  readonly holdWaitMs: number
  readonly textHolds: 'hold' | 'check'
  readonly isProxyTrusted: boolean
  readonly drainMs: number
  readonly isMetricsPublic: boolean
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Settings that cannot be used. Its message holds every problem, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Reads every setting; an empty variable counts as unset. Throws one `ConfigError` with all that is wrong, each problem a
 * sentence that names the variable and what would have been right.
 */
export function readConfig(environment: Environment = process.env): Config {
  const problems: string[] = []
  const values = Object.entries<Setting>(settings).map(([key, setting]) => {
    const { value, problem } = readSetting(setting, environment)
    if (problem !== undefined) problems.push(problem)
    return [key, value] as const
  })
  const config = Object.freeze(Object.fromEntries(values)) as Config

  if (config.moderationKey !== undefined && config.moderationUrl === undefined) {
    problems.push('TOLLGATE_MODERATION_KEY is set, so TOLLGATE_MODERATION_URL must be set too.')
  }
  problems.push(...refusedVariables(environment))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

export type SettingDescription = {
  readonly name: string
  /** Null where unset means absent. */
  readonly default: string | null
  readonly meaning: string
  /** The text in force: `set` for a secret, null where nothing is set. */
  readonly value: string | null
  readonly isSet: boolean
}

/** Every setting in the order of the table, with what this environment makes of it. Checks nothing, shows no secret. */
export function describeConfig(environment: Environment = process.env): readonly SettingDescription[] {
  return Object.values<Setting>(settings).map(setting => {
    const text = textOf(setting.name, environment)
    const shown = setting.isSecret === true && text !== undefined ? 'set' : text
    return {
      name: setting.name,
      default: setting.default,
      meaning: setting.meaning,
      value: shown ?? setting.default,
      isSet: text !== undefined,
    }
  })
}

/** The value of the variable that a provider's `api_key: env:NAME` names, without blanks at its ends; absent where empty. */
export function secretFromEnvironment(
  name: string,
  environment: Environment = process.env,
): string | undefined {
  return textOf(name, environment)?.trim()
}

/** Whether the environment names a proxy for requests to the outside, as HTTP_PROXY and HTTPS_PROXY do. */
export function isProxyNamed(environment: Environment = process.env): boolean {
  return ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'].some(
    name => textOf(name, environment) !== undefined,
  )
}

function readSetting(
  setting: Setting,
  environment: Environment,
): { readonly value?: unknown; readonly problem?: string } {
  const given = textOf(setting.name, environment)
  const text = given ?? setting.default
  if (text === null) return {}
  const value = setting.parse(text)
  if (value !== undefined) return { value }
  const shown = setting.isSecret === true ? 'has a value that cannot be used' : `is ${JSON.stringify(text)}`
  return { problem: `${setting.name} ${shown}; it must be ${setting.expected}.` }
}

function textOf(name: string, environment: Environment): string | undefined {
  const text = environment[name]
  return text === undefined || text.trim() === '' ? undefined : text
}
