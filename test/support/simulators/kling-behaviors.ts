/** What the simulator does with one create. */
export type SubmitBehavior = {
  /** Whether the provider accepts the job, independent of its answer. */
  readonly accepts: boolean
  readonly answer:
    | 'normal'
    | 'reset'
    | 'nothing'
    | 'empty'
    | 'html'
    | 'truncated'
    | 'no_id'
    /** A success with the job, and with a code that no document names. */
    | 'unlisted_code'
    /** The id of the job before. */
    | 'previous_id'
    | {
        readonly status: number
        readonly code?: number
        readonly retryAfterS?: number
        readonly isHtml?: boolean
      }
  readonly job?: JobBehavior
}

/** How an accepted job goes on. */
export type JobBehavior = {
  /** The provider's id, in place of a number. */
  readonly taskId?: string
  /** From the create to the end; Infinity for a job that never ends. */
  readonly endsAfterMs?: number
  readonly fails?: boolean
  /** The status while the job runs, in place of `submitted` and `processing`. */
  readonly statusWord?: string
  /** In place of the list of videos. */
  readonly videos?: unknown
  /** What is reported as the duration of the clip, and as the units charged. */
  readonly reportedDuration?: unknown
  readonly reportedUnits?: unknown
  /** The real length of the clip, where it is not the one asked for. */
  readonly clipS?: number
  /** In place of the link to the clip. */
  readonly url?: string
  readonly file?: FileBehavior
  /** The provider forgets the job this long after its end. */
  readonly forgottenAfterMs?: number
}

/** What comes from the link to a clip. */
export type FileBehavior =
  | 'clip'
  | 'forbidden'
  | 'gone'
  | 'server_error'
  | 'html'
  | 'empty'
  | 'reset'
  | 'redirect_to_clip'
  | 'redirect_to_private'
  | 'redirect_loop'
  /** 2 GB. */
  | 'huge'
  /** A byte each second. */
  | 'drip'

/** What the simulator does with one query. */
export type PollBehavior =
  | 'normal'
  | 'reset'
  | 'nothing'
  | 'html'
  | 'no_status'
  /** The task does not say which job of ours it was created for. */
  | 'no_external_id'
  /** Always the status `submitted`. */
  | 'backwards'
  | 'unknown_status'
  | { readonly status: number; readonly code?: number; readonly retryAfterS?: number }

const accepted = (answer: SubmitBehavior['answer'], job?: JobBehavior): SubmitBehavior => ({
  accepts: true,
  answer,
  ...(job === undefined ? {} : { job }),
})
const refused = (status: number, code?: number, retryAfterS?: number): SubmitBehavior => ({
  accepts: false,
  answer: {
    status,
    ...(code === undefined ? {} : { code }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  },
})
const job = (behavior: JobBehavior) => accepted('normal', behavior)

/** By name, so that a script can be written as a list of words. */
export const submitBehaviors = {
  accept: accepted('normal'),
  // The provider has the job, and its client does not learn of it.
  accept_reset: accepted('reset'),
  accept_silence: accepted('nothing'),
  accept_500: accepted({ status: 500, code: 5000 }),
  accept_502: accepted({ status: 502, isHtml: true }),
  accept_504: accepted({ status: 504, isHtml: true }),
  accept_empty: accepted('empty'),
  accept_html: accepted('html'),
  accept_truncated: accepted('truncated'),
  accept_no_id: accepted('no_id'),
  accept_unlisted_code: accepted('unlisted_code'),
  accept_envelope_5001: accepted({ status: 200, code: 5001 }),
  // The provider does not have it.
  drop_reset: { accepts: false, answer: 'reset' },
  drop_silence: { accepts: false, answer: 'nothing' },
  drop_500: refused(500, 5000),
  drop_503: refused(503, 5001),
  drop_html: { accepts: false, answer: 'html' },
  drop_empty: { accepts: false, answer: 'empty' },
  reject_params: refused(400, 1201),
  reject_safety: refused(400, 1301),
  reject_safety_200: refused(200, 1301),
  reject_408: refused(408),
  reject_409: refused(409),
  rate_limited: refused(429, 1302, 7),
  parallel_limit: refused(429, 1303),
  out_of_credit: refused(429, 1102),
  arrears_200: refused(200, 1101),
  key_refused: refused(401, 1002),
  // Strange ids.
  previous_id: accepted('previous_id'),
  id_with_slash: job({ taskId: 'a/../b/?c=d#e' }),
  id_of_dots: job({ taskId: '..' }),
  id_of_4_kb: job({ taskId: 'x'.repeat(4096) }),
  // How the job goes on.
  fails: job({ fails: true }),
  never_ends: job({ endsAfterMs: Infinity }),
  ends_after_a_day: job({ endsAfterMs: 25 * 3_600_000 }),
  unknown_status: job({ statusWord: 'dreaming' }),
  forgotten: job({ forgottenAfterMs: 1000 }),
  // What the result is like.
  no_videos: job({ videos: [] }),
  missing_videos: job({ videos: undefined }),
  empty_url: job({ url: '' }),
  relative_url: job({ url: '/clip.mp4' }),
  data_url: job({ url: 'data:video/mp4;base64,AAAA' }),
  metadata_url: job({ url: 'http://169.254.169.254/latest/meta-data/' }),
  duration_missing: job({ reportedDuration: undefined }),
  duration_negative: job({ reportedDuration: '-5' }),
  duration_text: job({ reportedDuration: 'five' }),
  duration_number: job({ reportedDuration: 5 }),
  duration_too_long: job({ reportedDuration: '60' }),
  clip_shorter: job({ clipS: 3.2 }),
  clip_longer: job({ clipS: 14 }),
  units_missing: job({ reportedUnits: undefined }),
  units_negative: job({ reportedUnits: '-10' }),
  file_forbidden: job({ file: 'forbidden' }),
  file_gone: job({ file: 'gone' }),
  file_server_error: job({ file: 'server_error' }),
  file_html: job({ file: 'html' }),
  file_empty: job({ file: 'empty' }),
  file_reset: job({ file: 'reset' }),
  file_redirect_to_clip: job({ file: 'redirect_to_clip' }),
  file_redirect_to_private: job({ file: 'redirect_to_private' }),
  file_redirect_loop: job({ file: 'redirect_loop' }),
  file_huge: job({ file: 'huge' }),
  file_drip: job({ file: 'drip' }),
} as const satisfies Readonly<Record<string, SubmitBehavior>>
export type SubmitBehaviorName = keyof typeof submitBehaviors

export const pollBehaviors = {
  normal: 'normal',
  reset: 'reset',
  silence: 'nothing',
  html: 'html',
  no_status: 'no_status',
  no_external_id: 'no_external_id',
  backwards: 'backwards',
  unknown_status: 'unknown_status',
  status_401: { status: 401, code: 1004 },
  status_403: { status: 403 },
  status_404: { status: 404, code: 1203 },
  status_429: { status: 429, code: 1302, retryAfterS: 7 },
  status_500: { status: 500, code: 5000 },
  envelope_5001: { status: 200, code: 5001 },
} as const satisfies Readonly<Record<string, PollBehavior>>
export type PollBehaviorName = keyof typeof pollBehaviors
