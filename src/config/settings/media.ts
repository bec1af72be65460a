import { days, onOff, seconds } from '../forms/values.ts'
import { DAY_S, RETENTION_DAYS_MAX, type SettingsOf } from './setting.ts'

/** Short enough to watch the reconciler work. A shorter time would only keep the store busy. */
const JOB_TIME_S_MIN = 0.1

/** Image and video jobs. */
export type MediaConfig = {
  readonly imageWaitMs: number
  readonly videoWaitMs: number
  /** The image and video routes suit the OpenAI SDKs, beyond the contract. */
  readonly isOpenAiMediaOn: boolean
  readonly reconcileEveryMs: number
  readonly unknownSubmitTtlMs: number
  readonly jobTtlMs: number
  readonly imageRetentionMs: number
  /** Undefined keeps clips without a limit. */
  readonly videoRetentionMs: number | undefined
  /** For inputs and results, not for the operator's own base URLs. */
  readonly arePrivateAddressesAllowed: boolean
}

export const mediaSettings: SettingsOf<MediaConfig> = {
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
  reconcileEveryMs: {
    name: 'TOLLGATE_RECONCILE_EVERY_S',
    default: '150',
    meaning: 'How often the reconciler runs.',
    ...seconds({ min: JOB_TIME_S_MIN, max: DAY_S }),
  },
  unknownSubmitTtlMs: {
    name: 'TOLLGATE_UNKNOWN_SUBMIT_TTL_S',
    default: '900',
    meaning:
      'How long the money of a job stays reserved if it is not known whether the provider accepted the job.',
    ...seconds({ min: JOB_TIME_S_MIN, max: DAY_S * 30 }),
  },
  jobTtlMs: {
    name: 'TOLLGATE_JOB_TTL_S',
    default: '86400',
    meaning: 'How long a job may run. After that it fails and its money is released.',
    ...seconds({ min: JOB_TIME_S_MIN, max: DAY_S * 30 }),
  },
  imageRetentionMs: {
    name: 'TOLLGATE_RETENTION_DAYS',
    default: '7',
    meaning:
      'How long images can be read. After that, the next run of the reconciler archives them. `0` keeps them until then.',
    ...days({ min: 0, max: RETENTION_DAYS_MAX }),
  },
  videoRetentionMs: {
    name: 'TOLLGATE_VIDEO_RETENTION_DAYS',
    default: null,
    meaning:
      'How long clips can be read. After that, the next run of the reconciler archives them. `0` keeps them until ' +
      'then. Unset: without a limit.',
    ...days({ min: 0, max: RETENTION_DAYS_MAX }),
  },
  arePrivateAddressesAllowed: {
    name: 'TOLLGATE_ALLOW_PRIVATE_UPSTREAMS',
    default: 'off',
    meaning:
      '`on` lets the gateway fetch inputs and results from private addresses. The base URLs of providers may ' +
      'always be private.',
    ...onOff,
  },
}
