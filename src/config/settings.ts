import type { Config } from './config.ts'
import {
  bucketName,
  buttonText,
  databaseAddress,
  days,
  dollars,
  filePath,
  freePath,
  guessedSecret,
  headerSecret,
  headerWord,
  hostName,
  mailAddresses,
  mailbox,
  megabytes,
  onOff,
  objectPrefix,
  oneOf,
  redisAddress,
  regionName,
  seconds,
  secretKey,
  shownName,
  smtpAddress,
  subnets,
  webAddress,
  webOrigins,
  wholeNumber,
  type Form,
} from './form.ts'

export type Setting = Form<unknown> & {
  /** The environment variable. */
  readonly name: string
  /** The value of an unset variable; null if an unset variable means that the setting is absent. */
  readonly default: string | null
  /** What the setting does, for the docs and `--help`. Says what unset means if the default is null. */
  readonly meaning: string
  /** The value is never shown. */
  readonly isSecret?: true
}

/** A setting whose text is parsed to this value. It has a default if and only if the value is required. */
type SettingOf<Value> = Setting &
  Form<NonNullable<Value>> & { readonly default: undefined extends Value ? null : string }

/** A longer time is most likely a wrong unit. */
const DAY_S = 86_400
/** Bodies are read into memory. A larger one could stop the process. */
const BODY_MB_MAX = 1024
/** Bodies of media routes go to disk. */
const MEDIA_BODY_MB_MAX = 16_384
const SPOOL_MB_MAX = 10_485_760
/** 64 MB are for small bodies, and a body of the admin API must fit into a quarter of the rest. */
const BUFFERED_MB_MIN = 128
const BUFFERED_MB_MAX = 1_048_576
const RECORDS_MAX = 1_000_000_000
/** A quarter of it is for the write-ahead log. */
const RECORDS_MB_MIN = 32
const RETENTION_DAYS_MAX = 36_500
const REPLAY_MB_MAX = 16_384
const PORT_MAX = 65_535
const ALERT_EMAILS_MAX = 20
const MAILS_MAX = 1_000_000
/** A limit of 0 would fail every request. */
const TIMEOUT_S_MIN = 0.001

/** Every setting. The environment is read with this table, and `--help`, `doctor` and docs/settings.md show it. */
export const settings: { readonly [Key in keyof Config]: SettingOf<Config[Key]> } = {
  host: {
    name: 'TOLLGATE_HOST',
    default: '127.0.0.1',
    meaning: 'The address to listen on. `0.0.0.0` listens on all addresses.',
    ...hostName,
  },
  port: {
    name: 'TOLLGATE_PORT',
    default: '8787',
    meaning: 'The port to listen on. `0` picks a free port.',
    ...wholeNumber({ min: 0, max: PORT_MAX }),
  },
  dataDir: {
    name: 'TOLLGATE_DATA_DIR',
    default: './data',
    meaning: 'The folder of the database and the keys. It is created if it does not exist.',
    ...filePath,
  },
  anchorFile: {
    name: 'TOLLGATE_ANCHOR_FILE',
    default: null,
    meaning:
      'The file that names the last commit of the database, preferably on another disk. Unset: `anchor.json` in ' +
      'the data folder.',
    ...filePath,
  },
  database: {
    name: 'TOLLGATE_DATABASE_URL',
    default: null,
    meaning:
      'A PostgreSQL database with the books, which several gateways can share: ' +
      '`postgres://tollgate:PASSWORD@db.example.com:5432/tollgate?sslmode=verify-full`. Unset: SQLite in the data folder.',
    isSecret: true,
    ...databaseAddress,
  },
  databaseOwner: {
    name: 'TOLLGATE_DATABASE_OWNER_URL',
    default: null,
    meaning:
      'The same database for the role that owns its tables, and makes or changes them when a gateway starts. Unset: ' +
      'the role of `TOLLGATE_DATABASE_URL` does that.',
    isSecret: true,
    ...databaseAddress,
  },
  secretKey: {
    name: 'TOLLGATE_SECRET_KEY',
    default: null,
    meaning:
      'The key that encrypts the keys of providers in a PostgreSQL database: 32 random bytes in base64, such as from ' +
      '`openssl rand -base64 32`. All gateways of a database have the same. Without a database, it is in `secret.key`.',
    isSecret: true,
    ...secretKey,
  },
  nodeName: {
    name: 'TOLLGATE_NODE_NAME',
    default: null,
    meaning:
      'The name of this gateway in `tollgate nodes`, with a PostgreSQL database. Unset: the host name.',
    ...shownName,
  },
  baseUrl: {
    name: 'TOLLGATE_BASE_URL',
    default: null,
    meaning:
      'The public address of the gateway, for links to clips and for the examples that the first start prints. ' +
      'Unset: the `Host` of each request.',
    ...webAddress,
  },
  adminKey: {
    name: 'TOLLGATE_ADMIN_KEY',
    default: null,
    meaning:
      'The admin key, with at least 8 characters; use a long random one. Unset: the first start creates one and ' +
      'stores it in `admin.key`. Commands can have an admin token here while a gateway runs.',
    isSecret: true,
    ...guessedSecret,
  },
  consolePath: {
    name: 'TOLLGATE_CONSOLE',
    default: '/console',
    meaning: 'The path of the console, where operators sign in. `off` serves none.',
    ...freePath,
  },
  oidcIssuer: {
    name: 'TOLLGATE_OIDC_ISSUER',
    default: null,
    meaning:
      'The OpenID provider with which people sign in to the console, such as `https://accounts.example.com`. It needs ' +
      '`TOLLGATE_BASE_URL`. Unset: people sign in with a password.',
    ...webAddress,
  },
  oidcClientId: {
    name: 'TOLLGATE_OIDC_CLIENT_ID',
    default: null,
    meaning:
      'The id of the gateway at the OpenID provider. Required with an issuer. Unset: no OpenID provider.',
    ...headerSecret,
  },
  oidcClientSecret: {
    name: 'TOLLGATE_OIDC_CLIENT_SECRET',
    default: null,
    meaning:
      'The secret of the gateway at the OpenID provider. Required with an issuer. Unset: no OpenID provider.',
    isSecret: true,
    ...headerSecret,
  },
  oidcName: {
    name: 'TOLLGATE_OIDC_NAME',
    default: null,
    meaning: 'What the button for the OpenID provider says. Unset: the host of the issuer.',
    ...buttonText,
  },
  brand: {
    name: 'TOLLGATE_BRAND',
    default: 'service',
    meaning: 'The brand in header names: `acme` gives `x-acme-cost-usd`.',
    ...headerWord,
  },
  isSandboxOn: {
    name: 'TOLLGATE_SANDBOX',
    default: 'on',
    meaning:
      '`on` creates a demo account and a sandbox catalog in an empty data folder. `off` creates neither and ' +
      'serves no sandbox model.',
    ...onOff,
  },
  catalogFile: {
    name: 'TOLLGATE_CATALOG',
    default: null,
    meaning:
      'A catalog file to import at the start if the store has no catalog. Later edits of the file are not read. ' +
      'Unset: none.',
    ...filePath,
  },
  moderationUrl: {
    name: 'TOLLGATE_MODERATION_URL',
    default: null,
    meaning:
      'The address of an OpenAI-style moderations route, such as `https://api.example.com/v1/moderations`. Unset: ' +
      'no moderation.',
    ...webAddress,
  },
  moderationKey: {
    name: 'TOLLGATE_MODERATION_KEY',
    default: null,
    meaning: 'The key for the moderations route. Unset: no key is sent.',
    isSecret: true,
    ...headerSecret,
  },
  readTimeoutMs: {
    name: 'TOLLGATE_READ_TIMEOUT_S',
    default: '300',
    meaning: "The time limit for a provider's whole answer, or for the head of its stream.",
    ...seconds({ min: TIMEOUT_S_MIN, max: DAY_S }),
  },
  streamIdleTimeoutMs: {
    name: 'TOLLGATE_STREAM_IDLE_TIMEOUT_S',
    default: '60',
    meaning: 'How long a stream may be silent after its head. After that it counts as broken.',
    ...seconds({ min: TIMEOUT_S_MIN, max: DAY_S }),
  },
  replayTtlMs: {
    name: 'TOLLGATE_REPLAY_TTL_S',
    default: '60',
    meaning: 'How long an answer is kept for replays. `0` switches replays off.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  replayBytesMax: {
    name: 'TOLLGATE_REPLAY_MB',
    default: '64',
    meaning:
      'The memory for kept answers and copies of running streams. When it is full, nothing more is kept or copied.',
    ...megabytes({ min: 0, max: REPLAY_MB_MAX }),
  },
  redis: {
    name: 'TOLLGATE_REDIS_URL',
    default: null,
    meaning:
      'A Valkey or Redis server that keeps answers for replays, for several gateways and over restarts: ' +
      '`redis://user:password@cache.example.com:6379/0`, or `rediss://` with TLS. Unset: answers are kept in memory only.',
    isSecret: true,
    ...redisAddress,
  },
  reconcileEveryMs: {
    name: 'TOLLGATE_RECONCILE_EVERY_S',
    default: '150',
    meaning: 'How often the reconciler runs.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  bodyBytesMax: {
    name: 'TOLLGATE_MAX_BODY_MB',
    default: '64',
    meaning: 'The size limit of a body on text routes. A larger one is refused with 413.',
    ...megabytes({ min: TIMEOUT_S_MIN, max: BODY_MB_MAX }),
  },
  mediaBodyBytesMax: {
    name: 'TOLLGATE_MAX_MEDIA_BODY_MB',
    default: '640',
    meaning: 'The size limit of a body on image and video routes. A larger one is refused with 413.',
    ...megabytes({ min: TIMEOUT_S_MIN, max: MEDIA_BODY_MB_MAX }),
  },
  spoolBytesMax: {
    name: 'TOLLGATE_MAX_SPOOL_MB',
    default: '10240',
    meaning:
      'The disk space for the input files of running image and video requests. One account gets a quarter of it.',
    ...megabytes({ min: TIMEOUT_S_MIN, max: SPOOL_MB_MAX }),
  },
  bufferedBytesMax: {
    name: 'TOLLGATE_MAX_BUFFERED_MB',
    default: '1024',
    meaning:
      'The memory for the bodies of running requests, on all routes. One key gets a quarter of it. 64 MB are kept ' +
      'for bodies of up to 256 KB.',
    ...megabytes({ min: BUFFERED_MB_MIN, max: BUFFERED_MB_MAX }),
  },
  imageWaitMs: {
    name: 'TOLLGATE_IMAGE_WAIT_S',
    default: '150',
    meaning:
      'How long an image request waits for its images. After that the reply is 202 with the id of the job.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  videoWaitMs: {
    name: 'TOLLGATE_VIDEO_WAIT_S',
    default: '90',
    meaning: 'The longest that a video request with `wait` or `timeout` waits for its clip.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  isOpenAiMediaOn: {
    name: 'TOLLGATE_OPENAI_MEDIA',
    default: 'off',
    meaning:
      '`on` makes the image and video routes fit the OpenAI SDKs: forms, sizes, streams and longer waits for images; ' +
      'fields, lists and deletion for videos. Clients read other replies then, and `TOLLGATE_IMAGE_WAIT_S` does not ' +
      'apply.',
    ...onOff,
  },
  unknownSubmitTtlMs: {
    name: 'TOLLGATE_UNKNOWN_SUBMIT_TTL_S',
    default: '900',
    meaning:
      'How long the money of a job stays reserved if it is not known whether the provider accepted the job.',
    ...seconds({ min: 1, max: DAY_S * 30 }),
  },
  jobTtlMs: {
    name: 'TOLLGATE_JOB_TTL_S',
    default: '86400',
    meaning: 'How long a job may run. After that it fails and its money is released.',
    ...seconds({ min: 1, max: DAY_S * 30 }),
  },
  imageRetentionMs: {
    name: 'TOLLGATE_RETENTION_DAYS',
    default: '7',
    meaning: 'How long images can be read. After that they are archived.',
    ...days({ min: TIMEOUT_S_MIN, max: RETENTION_DAYS_MAX }),
  },
  videoRetentionMs: {
    name: 'TOLLGATE_VIDEO_RETENTION_DAYS',
    default: null,
    meaning: 'How long clips can be read. After that they are archived. Unset: without a limit.',
    ...days({ min: TIMEOUT_S_MIN, max: RETENTION_DAYS_MAX }),
  },
  s3Bucket: {
    name: 'TOLLGATE_S3_BUCKET',
    default: null,
    meaning:
      'The bucket of an S3 storage for the results of image and video jobs. It must not be public. Unset: results are ' +
      'files in the data folder.',
    ...bucketName,
  },
  s3Region: {
    name: 'TOLLGATE_S3_REGION',
    default: 'us-east-1',
    meaning: 'The region of the bucket. Storages without regions accept the default.',
    ...regionName,
  },
  s3Endpoint: {
    name: 'TOLLGATE_S3_ENDPOINT',
    default: null,
    meaning: 'The address of the storage, without the bucket. Unset: AWS, in the region.',
    ...webAddress,
  },
  s3AccessKeyId: {
    name: 'TOLLGATE_S3_ACCESS_KEY_ID',
    default: null,
    meaning:
      'The id of the access key. It needs rights to read, write, list and delete. Required with a bucket.',
    isSecret: true,
    ...headerSecret,
  },
  s3SecretAccessKey: {
    name: 'TOLLGATE_S3_SECRET_ACCESS_KEY',
    default: null,
    meaning: 'The secret of the access key. Required with a bucket.',
    isSecret: true,
    ...headerSecret,
  },
  isS3PathStyle: {
    name: 'TOLLGATE_S3_PATH_STYLE',
    default: null,
    meaning:
      '`on` writes the bucket into the path of URLs, `off` into their host. Unset: `on` with ' +
      '`TOLLGATE_S3_ENDPOINT`, `off` for AWS.',
    ...onOff,
  },
  s3Prefix: {
    name: 'TOLLGATE_S3_PREFIX',
    default: null,
    meaning: 'The beginning of the names of all objects, for a bucket with other content. Unset: none.',
    ...objectPrefix,
  },
  arePrivateAddressesAllowed: {
    name: 'TOLLGATE_ALLOW_PRIVATE_UPSTREAMS',
    default: 'off',
    meaning:
      '`on` lets the gateway fetch inputs and results from private addresses. The base URLs of providers may ' +
      'always be private.',
    ...onOff,
  },
  mayWebhooksBePrivate: {
    name: 'TOLLGATE_ALLOW_PRIVATE_WEBHOOKS',
    default: 'off',
    meaning:
      "`on` lets the operator's webhooks be in private networks, also without TLS. Webhooks of accounts are always " +
      'public, with TLS.',
    ...onOff,
  },
  smtp: {
    name: 'TOLLGATE_SMTP_URL',
    default: null,
    meaning:
      'The mail server for mails about events: `smtp://user:password@mail.example.com:587` with STARTTLS, or `smtps://` ' +
      'with TLS. Unset: no mails.',
    isSecret: true,
    ...smtpAddress,
  },
  mailFrom: {
    name: 'TOLLGATE_MAIL_FROM',
    default: null,
    meaning:
      'The sender of mails, such as `Example AI <alerts@example.com>`. Needed with `TOLLGATE_SMTP_URL`.',
    ...mailbox,
  },
  alertEmails: {
    name: 'TOLLGATE_ALERT_EMAILS',
    default: 'off',
    meaning:
      'The addresses of operators that get mails about all events, separated by commas; at most 20. `off`: only contacts ' +
      'of accounts get mails.',
    ...mailAddresses({ max: ALERT_EMAILS_MAX }),
  },
  mailsPerAddress: {
    name: 'TOLLGATE_MAILS_PER_ADDRESS',
    default: '50',
    meaning:
      'How many mails one address gets in a day (UTC). More are left out, and one mail says how many. An operator gets ' +
      'as many again about the gateway.',
    ...wholeNumber({ min: 1, max: MAILS_MAX }),
  },
  mailsPerDay: {
    name: 'TOLLGATE_MAILS_PER_DAY',
    default: '1000',
    meaning:
      'How many mails all addresses together get in a day (UTC). Mails to operators count, and are always sent.',
    ...wholeNumber({ min: 1, max: MAILS_MAX }),
  },
  holdWaitMs: {
    name: 'TOLLGATE_HOLD_WAIT_S',
    default: '5',
    meaning:
      'How long a request waits for running requests of its account to free the money it needs. `0` does not wait.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  textHolds: {
    name: 'TOLLGATE_TEXT_HOLDS',
    default: 'hold',
    meaning:
      '`hold` holds the worst-case price of each running request. `check` only compares it with the balance, so ' +
      'parallel requests can overspend. Budgets still reserve it, and requests wait for a reserved budget.',
    ...oneOf(['hold', 'check']),
  },
  trustedProxies: {
    name: 'TOLLGATE_TRUST_PROXY',
    default: 'off',
    meaning:
      'The addresses of the reverse proxies, such as `127.0.0.1, 10.0.0.0/8`. Their headers name the client for ' +
      'the log and for keys that are restricted to addresses, and the host and scheme for links to clips. ' +
      '`off` trusts none.',
    ...subnets,
  },
  proxyHeader: {
    name: 'TOLLGATE_PROXY_HEADER',
    default: 'x-forwarded-for',
    meaning:
      'The header in which trusted proxies name the client: `x-forwarded-for` (with `x-forwarded-host` and ' +
      '`x-forwarded-proto`), or `forwarded`.',
    ...oneOf(['x-forwarded-for', 'forwarded']),
  },
  corsOrigins: {
    name: 'TOLLGATE_CORS_ORIGINS',
    default: '*',
    meaning:
      'The web pages that may call `/v1/*` from a browser: `*` for all, `off` for none, or a list of origins with ' +
      'commas. Credentials are never allowed.',
    ...webOrigins,
  },
  headTimeoutMs: {
    name: 'TOLLGATE_HEAD_TIMEOUT_S',
    default: '10',
    meaning:
      'The time limit for the head of a request, from its first byte on. A slower one is refused with 408.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  idleTimeoutMs: {
    name: 'TOLLGATE_IDLE_TIMEOUT_S',
    default: '620',
    meaning:
      'How long a connection may wait for its next request. Set it higher than the idle timeout of your proxy or ' +
      'load balancer.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  stallTimeoutMs: {
    name: 'TOLLGATE_STALL_TIMEOUT_S',
    default: '600',
    meaning: 'How long a client may stop reading its reply. After that its connection is closed.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  drainMs: {
    name: 'TOLLGATE_DRAIN_S',
    default: '30',
    meaning: 'How long a stop waits for running requests to end.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  grantConfirmUsd: {
    name: 'TOLLGATE_GRANT_CONFIRM_USD',
    default: '1000',
    meaning: 'Commands that credit an account with more than this ask first, or need `--yes`.',
    ...dollars,
  },
  requestRecordsMs: {
    name: 'TOLLGATE_REQUEST_RECORDS_DAYS',
    default: '7',
    meaning: 'How long the records of requests are kept. `0` keeps none and deletes them.',
    ...days({ min: 0, max: RETENTION_DAYS_MAX }),
  },
  requestRecordsMax: {
    name: 'TOLLGATE_REQUEST_RECORDS_ROWS',
    default: '1000000',
    meaning: 'The number of request records that are kept. Beyond it, the oldest are deleted.',
    ...wholeNumber({ min: 1000, max: RECORDS_MAX }),
  },
  requestRecordsBytesMax: {
    name: 'TOLLGATE_REQUEST_RECORDS_MB',
    default: '1024',
    meaning: 'The disk space for request records. When it is nearly full, the oldest are deleted.',
    ...megabytes({ min: RECORDS_MB_MIN, max: SPOOL_MB_MAX }),
  },
  refusalRecordsMax: {
    name: 'TOLLGATE_REQUEST_RECORDS_REFUSALS',
    default: '60',
    meaning:
      'How many refusals of one key with the same code are recorded in a minute. The others are only counted.',
    ...wholeNumber({ min: 1, max: 10_000 }),
  },
  isMetricsPublic: {
    name: 'TOLLGATE_METRICS_PUBLIC',
    default: 'off',
    meaning: '`on` serves `GET /metrics` without a key.',
    ...onOff,
  },
  metricsKey: {
    name: 'TOLLGATE_METRICS_KEY',
    default: null,
    meaning:
      'A key that may only read `GET /metrics`, for Prometheus, with at least 8 characters. The admin key and admin ' +
      'tokens with the scope `metrics` may read it too.',
    isSecret: true,
    ...guessedSecret,
  },
  logLevel: {
    name: 'TOLLGATE_LOG_LEVEL',
    default: 'info',
    meaning:
      'The lowest level of log lines to write: `debug`, `info`, `warn` or `error`. `silent` writes none.',
    ...oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  },
}
