import type { Bytes } from '../../../../src/domain/bytes.ts'
import type { SimulatedReply } from '../simulated-reply.ts'

/** What a simulated provider of images or videos does with one submit. */
export type SubmitBehavior = {
  /** Whether the provider takes the job, independent of its answer. */
  readonly accepts: boolean
  readonly answer:
    | 'normal'
    | 'reset'
    | 'nothing'
    | 'empty'
    | 'html'
    | 'truncated'
    | 'no_id'
    | 'redirect'
    /** The id of the job before. */
    | 'previous_id'
    | { readonly idOf: string }
    /** What only one provider answers. */
    | { readonly reply: SimulatedReply }
    | ErrorAnswer
  readonly job?: JobBehavior
}

export type ErrorAnswer = {
  /** Without a name, the body is a page of HTML. */
  readonly error?: ErrorName
  /** Default: the status that the provider sends with this error. */
  readonly status?: number
  readonly retryAfterS?: number
}

/** Errors that every provider has under a name of its own. */
export type ErrorName =
  | 'invalid'
  | 'safety'
  | 'rate_limited'
  | 'no_credit'
  | 'key_refused'
  | 'not_found'
  | 'server'

/** How an accepted job goes on. */
export type JobBehavior = {
  /** The provider's id, in place of one of its own. */
  readonly id?: string
  /** The provider shows the job only from then on. */
  readonly shownAfterMs?: number
  /** From the submit to the end; Infinity for a job that never ends. */
  readonly endsAfterMs?: number
  readonly ending?: 'finished' | 'failed' | 'filtered'
  /** The job runs under a status that no document of the provider names. */
  readonly hasUnknownStatus?: boolean
  /** In place of one clip. `missing`: the reply has no list of results. */
  readonly outputs?: readonly OutputBehavior[] | 'missing'
  /** The duration that is reported, in place of the one asked for. Null: none. */
  readonly reportedMs?: number | null
  /** What is reported in place of a number of seconds. */
  readonly reportedAs?: unknown
  /** The provider forgets the job this long after its end. */
  readonly forgottenAfterMs?: number
}

export type OutputBehavior = {
  /** In place of the link to the simulator's own file. */
  readonly url?: string
  /** In the reply itself, where the provider can do this. */
  readonly bytes?: Bytes
  readonly file?: FileBehavior
  /** The real length of the clip, where it is not the one asked for. */
  readonly clipMs?: number
}

/** What comes from the link to a file. */
export type FileBehavior =
  | 'file'
  | 'forbidden'
  | 'gone'
  | 'server_error'
  | 'html'
  | 'empty'
  | 'reset'
  | 'redirect_to_file'
  | 'redirect_to_private'
  | 'redirect_loop'
  /** 2 GB. */
  | 'huge'
  /** A byte each second. */
  | 'drip'

/** What the simulator does with one question about a job. */
export type PollBehavior =
  | { readonly reply: SimulatedReply }
  | 'normal'
  | 'reset'
  | 'nothing'
  | 'html'
  | 'redirect'
  | 'no_status'
  | 'backwards'
  | 'unknown_status'
  | ErrorAnswer

const accepted = (answer: SubmitBehavior['answer']): SubmitBehavior => ({ accepts: true, answer })
const dropped = (answer: SubmitBehavior['answer']): SubmitBehavior => ({ accepts: false, answer })
const job = (job: JobBehavior): SubmitBehavior => ({ accepts: true, answer: 'normal', job })
const output = (output: OutputBehavior): SubmitBehavior => job({ outputs: [output] })

/** By name, so that a script can be written as a list of words. */
export const submitBehaviors = {
  accept: accepted('normal'),
  // The provider has the job, and its client does not learn of it.
  accept_reset: accepted('reset'),
  accept_silence: accepted('nothing'),
  accept_500: accepted({ error: 'server', status: 500 }),
  accept_502: accepted({ status: 502 }),
  accept_504: accepted({ status: 504 }),
  accept_empty: accepted('empty'),
  accept_html: accepted('html'),
  accept_truncated: accepted('truncated'),
  accept_no_id: accepted('no_id'),
  // The provider does not have it.
  drop_reset: dropped('reset'),
  drop_silence: dropped('nothing'),
  drop_500: dropped({ error: 'server', status: 500 }),
  drop_503: dropped({ error: 'server', status: 503 }),
  drop_html: dropped('html'),
  drop_empty: dropped('empty'),
  drop_redirect: dropped('redirect'),
  reject_params: dropped({ error: 'invalid' }),
  reject_safety: dropped({ error: 'safety' }),
  reject_408: dropped({ error: 'invalid', status: 408 }),
  reject_409: dropped({ error: 'invalid', status: 409 }),
  rate_limited: dropped({ error: 'rate_limited', retryAfterS: 7 }),
  out_of_credit: dropped({ error: 'no_credit' }),
  key_refused: dropped({ error: 'key_refused' }),
  // Strange ids.
  previous_id: accepted('previous_id'),
  id_with_slash: job({ id: 'a/../b/?c=d#e' }),
  id_of_dots: job({ id: '..' }),
  id_of_4_kb: job({ id: 'x'.repeat(4096) }),
  // How the job goes on.
  fails: job({ ending: 'failed' }),
  is_filtered: job({ ending: 'filtered' }),
  never_ends: job({ endsAfterMs: Infinity }),
  ends_after_a_day: job({ endsAfterMs: 25 * 3_600_000 }),
  unknown_status: job({ hasUnknownStatus: true }),
  forgotten: job({ forgottenAfterMs: 1000 }),
  // What the result is like.
  no_outputs: job({ outputs: [] }),
  missing_outputs: job({ outputs: 'missing' }),
  empty_url: output({ url: '' }),
  relative_url: output({ url: '/clip.mp4' }),
  data_url: output({ url: 'data:video/mp4;base64,AAAA' }),
  metadata_url: output({ url: 'http://169.254.169.254/latest/meta-data/' }),
  duration_missing: job({ reportedMs: null }),
  duration_negative: job({ reportedAs: -5 }),
  duration_text: job({ reportedAs: 'five' }),
  duration_in_text: job({ reportedAs: '5' }),
  duration_too_long: job({ reportedMs: 60_000 }),
  clip_shorter: output({ clipMs: 3200 }),
  clip_longer: output({ clipMs: 14_000 }),
  file_forbidden: output({ file: 'forbidden' }),
  file_gone: output({ file: 'gone' }),
  file_server_error: output({ file: 'server_error' }),
  file_html: output({ file: 'html' }),
  file_empty: output({ file: 'empty' }),
  file_reset: output({ file: 'reset' }),
  file_redirect_to_file: output({ file: 'redirect_to_file' }),
  file_redirect_to_private: output({ file: 'redirect_to_private' }),
  file_redirect_loop: output({ file: 'redirect_loop' }),
  file_huge: output({ file: 'huge' }),
  file_drip: output({ file: 'drip' }),
} as const satisfies Readonly<Record<string, SubmitBehavior>>
export type SubmitBehaviorName = keyof typeof submitBehaviors

export const pollBehaviors = {
  normal: 'normal',
  reset: 'reset',
  silence: 'nothing',
  html: 'html',
  redirect: 'redirect',
  no_status: 'no_status',
  backwards: 'backwards',
  unknown_status: 'unknown_status',
  status_401: { error: 'key_refused' },
  status_403: { status: 403 },
  status_404: { error: 'not_found' },
  status_429: { error: 'rate_limited', retryAfterS: 7 },
  status_500: { error: 'server', status: 500 },
} as const satisfies Readonly<Record<string, PollBehavior>>
export type PollBehaviorName = keyof typeof pollBehaviors
