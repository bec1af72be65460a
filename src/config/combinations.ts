import { largestBodyIn, largestBodyOn } from '../gateway/byte-budgets/body-budgets.ts'
import { settings, type Config } from './settings.ts'

/**
 * Problems with settings that do not go together: one without another that it needs, or limits that exceed each other.
 * `problems` are those of single settings. They are reported first: a setting that was refused counts as unset here.
 */
export function combinationProblems(config: Partial<Config>, problems: readonly string[]): string[] {
  const isRefused = (names: RegExp) => problems.some(problem => names.test(problem))
  return [
    ...strayModerationKey(config),
    ...(isRefused(/^TOLLGATE_SMTP_URL/) ? [] : incompleteMail(config)),
    ...(isRefused(DATABASE_SETTINGS) ? [] : halfDatabase(config)),
    ...(isRefused(/^TOLLGATE_OIDC_/) ? [] : halfOpenId(config)),
    ...bodiesThatNeverFit(config),
    ...halfBucket(config),
  ]
}

function strayModerationKey({ moderationKey, moderationUrl }: Partial<Config>): string[] {
  return moderationKey === undefined || moderationUrl !== undefined
    ? []
    : ['TOLLGATE_MODERATION_KEY is set without TOLLGATE_MODERATION_URL. Set both, or unset the key.']
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
      `TOLLGATE_MAX_MEDIA_BODY_MB (or TOLLGATE_MAX_BODY_MB in its place) is more than the share of one account ` +
        `in TOLLGATE_MAX_SPOOL_MB: a quarter. Lower the limit or raise the space.`,
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
