import { guessedSecret } from '../forms/texts.ts'
import { days, megabytes, onOff, oneOf, wholeNumber } from '../forms/values.ts'
import { RETENTION_DAYS_MAX, type SettingsOf } from './setting.ts'

const RECORDS_MAX = 1_000_000_000
/** A quarter of it is for the write-ahead log. */
const RECORDS_MB_MIN = 32
/** Far more than any disk has. */
const RECORDS_DISK_MB_MAX = 10_485_760

/** Records of requests, metrics and the log. */
export type ObservabilityConfig = {
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

export const observabilitySettings: SettingsOf<ObservabilityConfig> = {
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
    ...megabytes({ min: RECORDS_MB_MIN, max: RECORDS_DISK_MB_MAX }),
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
