import { combinationProblems } from './combinations.ts'
import { isServiceVariable, unknownVariables, type Environment } from './environment.ts'
import { sections, settings, type Config } from './settings.ts'
import type { Setting } from './settings/setting.ts'

export type { Config, Environment }

/** Invalid settings. The message has one line for each problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Reads every setting. An empty variable and one that Kubernetes set count as unset. Throws one `ConfigError` with all
 * problems. Each problem is a sentence that names the variable and says what a valid value is.
 */
export function readConfig(environment: Environment = process.env): Config {
  const problems: string[] = []
  const values = Object.entries<Setting>(settings).map(([key, setting]) => {
    const { value, problem } = readSetting(setting, environment)
    if (problem !== undefined) problems.push(problem)
    return [key, value] as const
  })
  const config = Object.freeze(Object.fromEntries(values)) as Config

  problems.push(...combinationProblems(config, problems))
  const names = Object.values<Setting>(settings).map(({ name }) => name)
  problems.push(...unknownVariables(environment, names))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

export type SettingDescription = {
  /** What the setting is about. Settings of a section follow each other. */
  readonly section: string
  readonly name: string
  /** Null if an unset variable means that the setting is absent. */
  readonly default: string | null
  readonly meaning: string
  /** The text in effect; `set` for a secret; null if there is none. */
  readonly value: string | null
  readonly isSet: boolean
}

/**
 * Every setting with its value in this environment, in the order of the sections. Does not validate, and hides secrets.
 */
export function describeConfig(environment: Environment = process.env): readonly SettingDescription[] {
  return sections.flatMap(({ title, settings: ofSection }) =>
    Object.values(ofSection).map(setting => describeSetting(title, setting, environment)),
  )
}

function describeSetting(section: string, setting: Setting, environment: Environment): SettingDescription {
  const text = settingText(setting.name, environment)
  const shown = setting.isSecret === true && text !== undefined ? 'set' : text
  return {
    section,
    name: setting.name,
    default: setting.default,
    meaning: setting.meaning,
    value: shown ?? followedText(setting, environment) ?? setting.default,
    isSet: text !== undefined,
  }
}

/** The trimmed value of the variable that `api_key: env:NAME` of a provider names. Undefined if it is empty. */
export function secretFromEnvironment(
  name: string,
  environment: Environment = process.env,
): string | undefined {
  return settingText(name, environment)?.trim()
}

/** Whether HTTP_PROXY or HTTPS_PROXY names a proxy for outgoing requests. */
export function isProxyNamed(environment: Environment = process.env): boolean {
  return ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'].some(
    name => settingText(name, environment) !== undefined,
  )
}

function readSetting(
  setting: Setting,
  environment: Environment,
): { readonly value?: unknown; readonly problem?: string } {
  const own = settingText(setting.name, environment)
  const text = own ?? followedText(setting, environment) ?? setting.default
  if (text === null) return {}
  const value = setting.parse(text)
  if (value !== undefined) return { value }
  // The problem is reported for the setting that has this text.
  if (own === undefined) return {}
  const shown = setting.isSecret === true ? 'has an invalid value' : `is ${JSON.stringify(text)}`
  return { problem: `${setting.name} ${shown}. It must be ${setting.expected}.` }
}

function followedText({ follows }: Setting, environment: Environment): string | undefined {
  return follows === undefined ? undefined : settingText(follows, environment)
}

function settingText(name: string, environment: Environment): string | undefined {
  const text = environment[name]
  return text === undefined || text.trim() === '' || isServiceVariable(name, text) ? undefined : text
}
