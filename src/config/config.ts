import type { Mailbox } from '../domain/mail/mail-address.ts'
import type { NanoUsd } from '../domain/money.ts'
import { largestBodyIn, largestBodyOn } from '../gateway/byte-budgets/body-budgets.ts'
import type { DatabaseServer } from '../gateway/ports/database-server.ts'
import type { SmtpServer } from '../gateway/ports/mail.ts'
import type { CacheServer } from '../gateway/ports/shared-cache.ts'
import { settings, type Setting } from './settings.ts'
import { isServiceVariable, unknownVariables } from './environment-problems.ts'

/** All settings, validated and frozen. Durations are in milliseconds and sizes in bytes. */
export type Config = {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** As given: absolute, or relative to the working directory. */
  readonly dataDir: string
  /** Undefined for `anchor.json` in the data folder. */
  readonly anchorFile: string | undefined
  /** Undefined for SQLite in the data folder. */
  readonly database: DatabaseServer | undefined
  /** For the role that owns the tables. Undefined if that is the one of `database`. */
  readonly databaseOwner: DatabaseServer | undefined
  /** 32 bytes. Set if and only if `database` is. */
  readonly secretKey: Uint8Array | undefined
  /** Undefined for the host name. */
  readonly nodeName: string | undefined
  /** Without a trailing slash. */
  readonly baseUrl: string | undefined
  readonly adminKey: string | undefined
  /** Undefined: people sign in with a password. */
  readonly oidcIssuer: string | undefined
  /** Set if and only if the issuer is. */
  readonly oidcClientId: string | undefined
  readonly oidcClientSecret: string | undefined
  /** Undefined for the host of the issuer. */
  readonly oidcName: string | undefined
  /** The path of the console, without a trailing slash. */
  readonly consolePath: `/${string}` | 'off'
  /** For example, `acme` in `x-acme-cost-usd`. */
  readonly brand: string
  readonly isSandboxOn: boolean
  readonly catalogFile: string | undefined
  readonly moderationUrl: string | undefined
  readonly moderationKey: string | undefined
  readonly readTimeoutMs: number
  readonly streamIdleTimeoutMs: number
  /** 0 switches replays off. */
  readonly replayTtlMs: number
  readonly replayBytesMax: number
  /** Undefined: answers are kept in memory only. */
  readonly redis: CacheServer | undefined
  readonly reconcileEveryMs: number
  /** For text routes. */
  readonly bodyBytesMax: number
  /** For media routes. */
  readonly mediaBodyBytesMax: number
  readonly spoolBytesMax: number
  /** For the request bodies of all routes. */
  readonly bufferedBytesMax: number
  readonly imageWaitMs: number
  readonly videoWaitMs: number
  /** The image and video routes suit the OpenAI SDKs, beyond the contract. */
  readonly isOpenAiMediaOn: boolean
  readonly unknownSubmitTtlMs: number
  readonly jobTtlMs: number
  readonly imageRetentionMs: number
  /** Undefined keeps clips without a limit. */
  readonly videoRetentionMs: number | undefined
  /** Undefined for results in the data folder. */
  readonly s3Bucket: string | undefined
  readonly s3Region: string
  /** Undefined for AWS. */
  readonly s3Endpoint: string | undefined
  readonly s3AccessKeyId: string | undefined
  readonly s3SecretAccessKey: string | undefined
  /** Undefined for what suits the endpoint. */
  readonly isS3PathStyle: boolean | undefined
  readonly s3Prefix: string | undefined
  /** For inputs and results, not for the operator's own base URLs. */
  readonly arePrivateAddressesAllowed: boolean
  /** For those of the operator. Webhooks of accounts are always public. */
  readonly mayWebhooksBePrivate: boolean
  /** Undefined: no mails. */
  readonly smtp: SmtpServer | undefined
  /** Set if and only if `smtp` is. */
  readonly mailFrom: Mailbox | undefined
  /** Of the operators. */
  readonly alertEmails: readonly string[]
  readonly mailsPerAddress: number
  readonly mailsPerDay: number
  /** 0 does not wait. */
  readonly holdWaitMs: number
  readonly textHolds: 'hold' | 'check'
  /** Empty trusts none. */
  readonly trustedProxies: readonly { readonly address: string; readonly prefix: number }[]
  readonly proxyHeader: 'x-forwarded-for' | 'forwarded'
  /** `*` for all origins. */
  readonly corsOrigins: '*' | ReadonlySet<string>
  /** Of the head of a request. */
  readonly headTimeoutMs: number
  /** Between two requests of a connection. */
  readonly idleTimeoutMs: number
  /** Without progress of a reply. */
  readonly stallTimeoutMs: number
  readonly drainMs: number
  /** Commands ask before they credit more than this. */
  readonly grantConfirmUsd: NanoUsd
  /** Zero if no request records are kept. */
  readonly requestRecordsMs: number
  readonly requestRecordsMax: number
  readonly requestRecordsBytesMax: number
  readonly refusalRecordsMax: number
  readonly isMetricsPublic: boolean
  /** May only read the metrics. */
  readonly metricsKey: string | undefined
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

export type Environment = Readonly<Record<string, string | undefined>>

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

  if (config.moderationKey !== undefined && config.moderationUrl === undefined) {
    problems.push(
      'TOLLGATE_MODERATION_KEY is set without TOLLGATE_MODERATION_URL. Set both, or unset the key.',
    )
  }
  if (!problems.some(problem => problem.startsWith(settings.smtp.name)))
    problems.push(...incompleteMail(config))
  if (!problems.some(problem => DATABASE_SETTINGS.test(problem))) problems.push(...halfDatabase(config))
  if (!problems.some(problem => problem.startsWith('TOLLGATE_OIDC_'))) problems.push(...halfOpenId(config))
  const names = Object.values<Setting>(settings).map(({ name }) => name)
  problems.push(...bodiesThatNeverFit(config), ...halfBucket(config), ...unknownVariables(environment, names))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

export type SettingDescription = {
  readonly name: string
  /** Null if an unset variable means that the setting is absent. */
  readonly default: string | null
  readonly meaning: string
  /** The text in effect; `set` for a secret; null if there is none. */
  readonly value: string | null
  readonly isSet: boolean
}

/**
 * Every setting with its value in this environment, in the order of the table. Does not validate, and hides secrets.
 */
export function describeConfig(environment: Environment = process.env): readonly SettingDescription[] {
  return Object.values<Setting>(settings).map(setting => {
    const text = settingText(setting.name, environment)
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

/**
 * Problems with body limits that exceed the share of one key or account. Settings that were refused are not compared.
 */
function bodiesThatNeverFit(config: Partial<Config>): string[] {
  const { bodyBytesMax, bufferedBytesMax, mediaBodyBytesMax, spoolBytesMax } = config
  const problems: string[] = []
  if (isAbove(bodyBytesMax, bufferedBytesMax, largestBodyIn)) {
    problems.push(
      `TOLLGATE_MAX_BODY_MB is more than the share of one key in TOLLGATE_MAX_BUFFERED_MB: ` +
        `a quarter, after 64 MB for small bodies. Lower the first or raise the second.`,
    )
  }
  if (isAbove(mediaBodyBytesMax, spoolBytesMax, largestBodyOn)) {
    problems.push(
      `TOLLGATE_MAX_MEDIA_BODY_MB is more than the share of one account in TOLLGATE_MAX_SPOOL_MB: ` +
        `a quarter. Lower the first or raise the second.`,
    )
  }
  return problems
}

/** Problems with a bucket without its keys, or with keys without a bucket. */
function halfBucket(config: Partial<Config>): string[] {
  const { s3Bucket, s3Endpoint, s3AccessKeyId, s3SecretAccessKey, s3Prefix, isS3PathStyle } = config
  if (s3Bucket !== undefined && (s3AccessKeyId === undefined || s3SecretAccessKey === undefined))
    return [
      'TOLLGATE_S3_BUCKET is set without both keys. Set TOLLGATE_S3_ACCESS_KEY_ID and TOLLGATE_S3_SECRET_ACCESS_KEY.',
    ]
  const others = [s3Endpoint, s3AccessKeyId, s3SecretAccessKey, s3Prefix, isS3PathStyle]
  return s3Bucket === undefined && others.some(value => value !== undefined)
    ? ['Settings of TOLLGATE_S3_ are set without TOLLGATE_S3_BUCKET. Set the bucket, or unset the others.']
    : []
}

/** Their problems are told first, one by one. */
const DATABASE_SETTINGS = /^TOLLGATE_(?:DATABASE|SECRET_KEY|NODE_NAME|ADMIN_KEY)/

/** Gateways of a database cannot find their keys in a folder. Without a database, its settings have no effect. */
function halfDatabase(config: Partial<Config>): string[] {
  const { database, databaseOwner, secretKey, nodeName, adminKey, anchorFile } = config
  if (database === undefined) {
    const stray = [
      ...(databaseOwner === undefined ? [] : [settings.databaseOwner.name]),
      ...(secretKey === undefined ? [] : [settings.secretKey.name]),
      ...(nodeName === undefined ? [] : [settings.nodeName.name]),
    ]
    return stray.map(
      name => `${name} is set without TOLLGATE_DATABASE_URL. Set the database, or unset ${name}.`,
    )
  }
  const problems: string[] = []
  if (secretKey === undefined)
    problems.push(
      'TOLLGATE_DATABASE_URL is set without TOLLGATE_SECRET_KEY. Make a key with "openssl rand -base64 32", and give all gateways of the database the same one.',
    )
  if (adminKey === undefined)
    problems.push(
      'TOLLGATE_DATABASE_URL is set without TOLLGATE_ADMIN_KEY. Make a key with "openssl rand -hex 24", and give all gateways of the database the same one.',
    )
  if (anchorFile !== undefined)
    problems.push(
      'TOLLGATE_ANCHOR_FILE is set with TOLLGATE_DATABASE_URL, but gateways of a database share an anchor in the bucket of TOLLGATE_S3_BUCKET. Unset one of them.',
    )
  return problems
}

/** An OpenID provider sends the browser back to the public address, and knows the gateway by an id and a secret. */
function halfOpenId(config: Partial<Config>): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcName, baseUrl } = config
  const others = [oidcClientId, oidcClientSecret, oidcName]
  if (oidcIssuer === undefined)
    return others.some(value => value !== undefined)
      ? [
          'Settings of TOLLGATE_OIDC_ are set without TOLLGATE_OIDC_ISSUER. Set the issuer, or unset the others.',
        ]
      : []
  const missing = [
    ...(oidcClientId === undefined ? [settings.oidcClientId.name] : []),
    ...(oidcClientSecret === undefined ? [settings.oidcClientSecret.name] : []),
    ...(baseUrl === undefined ? [settings.baseUrl.name] : []),
  ]
  return missing.map(name => `TOLLGATE_OIDC_ISSUER is set without ${name}. Set it too.`)
}

/** A mail server needs a sender, and addresses need a mail server. */
function incompleteMail({ smtp, mailFrom, alertEmails = [] }: Partial<Config>): string[] {
  if (smtp !== undefined && mailFrom === undefined)
    return [
      'TOLLGATE_SMTP_URL is set without TOLLGATE_MAIL_FROM. Set the sender of mails, such as alerts@example.com.',
    ]
  if (smtp !== undefined) return []
  const stray = mailFrom === undefined ? 'TOLLGATE_ALERT_EMAILS' : 'TOLLGATE_MAIL_FROM'
  return mailFrom === undefined && alertEmails.length === 0
    ? []
    : [
        `${stray} is set without TOLLGATE_SMTP_URL, so no mail is sent. Set the mail server, or unset ${stray}.`,
      ]
}

function isAbove(
  body: number | undefined,
  budget: number | undefined,
  largestBody: (bytes: number) => number,
): boolean {
  return body !== undefined && budget !== undefined && body > largestBody(budget)
}

function readSetting(
  setting: Setting,
  environment: Environment,
): { readonly value?: unknown; readonly problem?: string } {
  const given = settingText(setting.name, environment)
  const text = given ?? setting.default
  if (text === null) return {}
  const value = setting.parse(text)
  if (value !== undefined) return { value }
  const shown = setting.isSecret === true ? 'has an invalid value' : `is ${JSON.stringify(text)}`
  return { problem: `${setting.name} ${shown}. It must be ${setting.expected}.` }
}

function settingText(name: string, environment: Environment): string | undefined {
  const text = environment[name]
  return text === undefined || text.trim() === '' || isServiceVariable(name, text) ? undefined : text
}
