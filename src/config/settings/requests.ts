import { megabytes, oneOf, seconds } from '../forms/values.ts'
import { DAY_S, TIMEOUT_S_MIN, type SettingsOf } from './setting.ts'

/** Bodies are read into memory. A larger one could stop the process. */
const BODY_MB_MAX = 1024
/** Bodies of media routes go to disk. */
const MEDIA_BODY_MB_MAX = 16_384
const SPOOL_MB_MAX = 10_485_760
/** 64 MB are for small bodies, and a body of the admin API must fit into a quarter of the rest. */
const BUFFERED_MB_MIN = 128
const BUFFERED_MB_MAX = 1_048_576
const REPLAY_MB_MAX = 16_384

/** Limits of time, money and memory for requests. */
export type RequestConfig = {
  readonly readTimeoutMs: number
  readonly streamIdleTimeoutMs: number
  /** 0 switches replays off. */
  readonly replayTtlMs: number
  readonly replayBytesMax: number
  /** 0 does not wait. */
  readonly holdWaitMs: number
  readonly textHolds: 'hold' | 'check'
  /** For text routes. */
  readonly bodyBytesMax: number
  /** For media routes. */
  readonly mediaBodyBytesMax: number
  readonly spoolBytesMax: number
  /** For the request bodies of all routes. */
  readonly bufferedBytesMax: number
}

export const requestSettings: SettingsOf<RequestConfig> = {
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
  bodyBytesMax: {
    name: 'TOLLGATE_MAX_BODY_MB',
    default: '64',
    meaning:
      'The size limit of a body on text routes. A larger one is refused with 413. If it is set, it is the limit on ' +
      'image and video routes too, unless `TOLLGATE_MAX_MEDIA_BODY_MB` is set.',
    ...megabytes({ min: TIMEOUT_S_MIN, max: BODY_MB_MAX }),
  },
  mediaBodyBytesMax: {
    name: 'TOLLGATE_MAX_MEDIA_BODY_MB',
    default: '640',
    follows: 'TOLLGATE_MAX_BODY_MB',
    meaning:
      'The size limit of a body on image and video routes. A larger one is refused with 413. Unset: ' +
      '`TOLLGATE_MAX_BODY_MB`, or 640 if that is unset too.',
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
}
