import type { PollBehaviorName, SubmitBehaviorName } from '../support/simulators/media/behaviors.ts'

/** What a provider does in one column of a table. */
export type Case = {
  readonly title: string
  /** What it does with the submit. Default: it accepts the job. */
  readonly submit?: SubmitBehaviorName
  /** What it does with the first request of the first poll. */
  readonly poll?: PollBehaviorName
  /** When the job is polled, after the submit. Default: once it is finished. */
  readonly pollAfterMs?: number
  /** A second job is submitted after the first one, with this behavior. */
  readonly second?: SubmitBehaviorName
}

export type Group = { readonly title: string; readonly text: string; readonly cases: readonly Case[] }

const HOUR_MS = 3_600_000
/** The column of a length that the provider reports as it is. */
export const RIGHT_LENGTH = 'right'

/** The tables of the page, in its order. */
export const groups: readonly Group[] = [
  {
    title: 'Submissions without an answer',
    text:
      'In the last two columns the provider does not have the job; in the others it does. The gateway cannot know ' +
      'which, so the reserve stays. `found` and `absent` are the answers of a provider that can find a job by our ' +
      'id. `unknown` means that the provider cannot do this: the reserve is released after ' +
      '`TOLLGATE_UNKNOWN_SUBMIT_TTL_S`.',
    cases: [
      { title: 'reply lost', submit: 'accept_reset' },
      { title: 'no answer', submit: 'accept_silence' },
      { title: '500', submit: 'accept_500' },
      { title: '504', submit: 'accept_504' },
      { title: '500, no job', submit: 'drop_500' },
      { title: 'reset, no job', submit: 'drop_reset' },
    ],
  },
  {
    title: 'Refused submissions',
    text:
      'The reserve is released. `request`: the customer sees the code and the message. `rate`: the customer may ' +
      'try again. `operator`: the customer learns only that the provider is not available.',
    cases: [
      { title: 'wrong field', submit: 'reject_params' },
      { title: 'content', submit: 'reject_safety' },
      { title: '408', submit: 'reject_408' },
      { title: '409', submit: 'reject_409' },
      { title: '429', submit: 'rate_limited' },
      { title: 'no credit', submit: 'out_of_credit' },
      { title: 'key refused', submit: 'key_refused' },
      { title: 'redirect', submit: 'drop_redirect' },
    ],
  },
  {
    title: 'Success replies without a job, and unusual ids',
    text:
      '`no id`: the reserve is released, because nothing can ever be polled. If another job already has the id, ' +
      'the store refuses it (`refused`).',
    cases: [
      { title: 'no id', submit: 'accept_no_id' },
      { title: 'HTML', submit: 'accept_html' },
      { title: 'half a body', submit: 'accept_truncated' },
      { title: 'empty', submit: 'accept_empty' },
      { title: 'same id twice', second: 'previous_id' },
      { title: 'id with /', submit: 'id_with_slash' },
      { title: 'id ".."', submit: 'id_of_dots' },
      { title: '4 kB id', submit: 'id_of_4_kb' },
    ],
  },
  {
    title: 'Polls that fail',
    text:
      '`again`: a failed poll says nothing about the job, so the job stays as it is, and the next poll finds its ' +
      'result.',
    cases: [
      { title: '401', poll: 'status_401' },
      { title: '403', poll: 'status_403' },
      { title: '404', poll: 'status_404' },
      { title: '429', poll: 'status_429' },
      { title: '500', poll: 'status_500' },
      { title: 'HTML', poll: 'html' },
      { title: 'reset', poll: 'reset' },
      { title: 'redirect', poll: 'redirect' },
    ],
  },
  {
    title: 'States of jobs',
    text:
      '`counted`: the status is undocumented, so the job counts as running, and a metric counts the status. ' +
      '`again`: the poll says nothing about the job.',
    cases: [
      { title: 'running', pollAfterMs: 2500 },
      { title: 'unknown status', submit: 'unknown_status', pollAfterMs: 2500 },
      { title: 'no status', poll: 'no_status' },
      { title: 'goes backwards', poll: 'backwards' },
      { title: 'fails', submit: 'fails' },
      { title: 'filtered', submit: 'is_filtered' },
    ],
  },
  {
    title: 'Late ends',
    text: 'A job is released at its deadline. If it ends later, its result is booked as a loss.',
    cases: [
      { title: 'ends after 25 hours', submit: 'ends_after_a_day', pollAfterMs: 25 * HOUR_MS },
      { title: 'never ends', submit: 'never_ends', pollAfterMs: 100 * HOUR_MS },
      { title: 'forgotten after its end', submit: 'forgotten', pollAfterMs: HOUR_MS },
    ],
  },
  {
    title: 'Results',
    text:
      '`no output`: the job fails, and nothing is charged. `refused`: the link does not lead to a public address, ' +
      'so it is never opened and the result is lost. `bytes`: the result is in the reply. `again`: the success ' +
      'has no file, so the job is not finished yet. Downloads that fail, are too large or take too long are the ' +
      'same for all providers: see `src/providers/fetch-untrusted` and `test/scenarios`.',
    cases: [
      { title: 'as ordered' },
      { title: 'none', submit: 'no_outputs' },
      { title: 'no list', submit: 'missing_outputs' },
      { title: 'empty link', submit: 'empty_url' },
      { title: 'relative link', submit: 'relative_url' },
      { title: 'data: link', submit: 'data_url' },
      { title: 'private link', submit: 'metadata_url' },
    ],
  },
  {
    title: 'Reported lengths',
    text:
      'The cells show the length in milliseconds for which a clip of 5 seconds is charged, before it is compared ' +
      'with the header of the clip. `header`: only the header of the clip counts.',
    cases: [
      { title: RIGHT_LENGTH },
      { title: 'missing', submit: 'duration_missing' },
      { title: 'negative', submit: 'duration_negative' },
      { title: 'text', submit: 'duration_text' },
      { title: 'digits in text', submit: 'duration_in_text' },
      { title: 'too long', submit: 'duration_too_long' },
    ],
  },
]
