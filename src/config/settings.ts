import type { Config } from './config.ts'
import {
  filePath,
  guessedSecret,
  headerSecret,
  headerWord,
  hostName,
  megabytes,
  onOff,
  oneOf,
  seconds,
  webAddress,
  wholeNumber,
  type Form,
} from './form.ts'

export type Setting = Form<unknown> & {
  /** The environment variable. */
  readonly name: string
  /** The text that stands for an unset variable; null where unset means absent. */
  readonly default: string | null
  /** What it changes, as a sentence of the settings table. Says what absent means where the default is null. */
  readonly meaning: string
  /** Its value is never shown. */
  readonly isSecret?: true
}

/** A setting whose text becomes this value; it needs a default exactly where the value may not be absent. */
type SettingOf<Value> = Setting &
  Form<NonNullable<Value>> & { readonly default: undefined extends Value ? null : string }

/** A timer longer than this would never fire in practice, and hides a unit that was mistaken. */
const DAY_S = 86_400
/** Bodies are read into memory whole, so one above this would be a way to stop the process. */
const BODY_MB_MAX = 1024
const REPLAY_MB_MAX = 16_384
const PORT_MAX = 65_535
/** A wait that ends at once would refuse every request. */
const TIMEOUT_S_MIN = 0.001

/** Every setting: the one source for reading the environment, `--help`, `doctor` and the settings table of the docs. */
export const settings: { readonly [Key in keyof Config]: SettingOf<Config[Key]> } = {
  host: {
    name: 'TOLLGATE_HOST',
    default: '127.0.0.1',
    meaning: 'The address to listen on. `0.0.0.0` listens on all of them.',
    ...hostName,
  },
  port: {
    name: 'TOLLGATE_PORT',
    default: '8787',
    meaning: 'The port to listen on. `0` takes any free one.',
    ...wholeNumber({ min: 0, max: PORT_MAX }),
  },
  dataDir: {
    name: 'TOLLGATE_DATA_DIR',
    default: './data',
    meaning: 'The folder of the books, the catalog and the keys. Made when absent.',
    ...filePath,
  },
  baseUrl: {
    name: 'TOLLGATE_BASE_URL',
    default: null,
    meaning:
      "The address clients reach the gateway at: in the line that a first start prints, and for links in replies, which no route of this version has. Unset: the request's own host.",
    ...webAddress,
  },
  adminKey: {
    name: 'TOLLGATE_ADMIN_KEY',
    default: null,
    meaning:
      'The key of the admin API, at least 8 characters; long and random is better. Unset: made at the first start and kept in `admin.key`.',
    isSecret: true,
    ...guessedSecret,
  },
  brand: {
    name: 'TOLLGATE_BRAND',
    default: 'service',
    meaning: 'The word in the header names of replies: `acme` makes `x-acme-cost-usd`.',
    ...headerWord,
  },
  isSandboxOn: {
    name: 'TOLLGATE_SANDBOX',
    default: 'on',
    meaning:
      'On an empty data folder, makes a demo account and a catalog on the built-in sandbox. `off` makes neither, and serves no sandbox model.',
    ...onOff,
  },
  catalogFile: {
    name: 'TOLLGATE_CATALOG',
    default: null,
    meaning:
      'A catalog file to import at start while the store has no catalog; later edits of it are not read. Unset: none.',
    ...filePath,
  },
  moderationUrl: {
    name: 'TOLLGATE_MODERATION_URL',
    default: null,
    meaning:
      'The address of an OpenAI-style moderations route, such as `https://api.example.com/v1/moderations`. Unset: no moderation.',
    ...webAddress,
  },
  moderationKey: {
    name: 'TOLLGATE_MODERATION_KEY',
    default: null,
    meaning: 'The key sent to the moderations route. Unset: none is sent.',
    isSecret: true,
    ...headerSecret,
  },
  readTimeoutMs: {
    name: 'TOLLGATE_READ_TIMEOUT_S',
    default: '300',
    meaning: "How long to wait for an upstream's whole answer, or for the head of its stream.",
    ...seconds({ min: TIMEOUT_S_MIN, max: DAY_S }),
  },
  streamIdleTimeoutMs: {
    name: 'TOLLGATE_STREAM_IDLE_TIMEOUT_S',
    default: '60',
    meaning: 'How long a stream may stay silent, from its head on, before it counts as broken.',
    ...seconds({ min: TIMEOUT_S_MIN, max: DAY_S }),
  },
  replayTtlMs: {
    name: 'TOLLGATE_REPLAY_TTL_S',
    default: '60',
    meaning: 'How long an answer is kept for an identical repeat of its request. `0` keeps none.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  replayBytesMax: {
    name: 'TOLLGATE_REPLAY_MB',
    default: '64',
    meaning:
      'The memory that kept answers and copies of running streams may take together. Beyond it, none are made.',
    ...megabytes({ min: 0, max: REPLAY_MB_MAX }),
  },
  reconcileEveryMs: {
    name: 'TOLLGATE_RECONCILE_EVERY_S',
    default: '150',
    meaning: 'How often the reconciler passes over what was left open.',
    ...seconds({ min: 1, max: DAY_S }),
  },
  bodyBytesMax: {
    name: 'TOLLGATE_MAX_BODY_MB',
    default: '64',
    meaning: 'The largest request body. A larger one is refused with 413.',
    ...megabytes({ min: TIMEOUT_S_MIN, max: BODY_MB_MAX }),
  },
  holdWaitMs: {
    name: 'TOLLGATE_HOLD_WAIT_S',
    default: '5',
    meaning:
      'How long a request waits for running ones of its account to free the money it needs. `0` refuses at once.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  textHolds: {
    name: 'TOLLGATE_TEXT_HOLDS',
    default: 'hold',
    meaning:
      '`hold` sets the worst case of each running request aside. `check` only compares it with the balance, so that parallel requests can overspend.',
    ...oneOf(['hold', 'check']),
  },
  isProxyTrusted: {
    name: 'TOLLGATE_TRUST_PROXY',
    default: 'off',
    meaning:
      "Believes the `x-forwarded-*` headers when it makes links, which no route of this version does. Only behind a proxy that overwrites its clients' own.",
    ...onOff,
  },
  drainMs: {
    name: 'TOLLGATE_DRAIN_S',
    default: '30',
    meaning: 'How long a stop waits for running requests.',
    ...seconds({ min: 0, max: DAY_S }),
  },
  isMetricsPublic: {
    name: 'TOLLGATE_METRICS_PUBLIC',
    default: 'off',
    meaning: '`on` answers `GET /metrics` without the admin key.',
    ...onOff,
  },
  logLevel: {
    name: 'TOLLGATE_LOG_LEVEL',
    default: 'info',
    meaning:
      'The least important log lines to write: `debug`, `info`, `warn` or `error`. `silent` writes none.',
    ...oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  },
}
