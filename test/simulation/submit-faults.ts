/** What can happen to a submit besides that it is accepted, and how likely each is. */
export const submitFaults = {
  'not sent': 3,
  rejected: 3,
  'rate limited': 2,
  'operator refused': 2,
  /** A success without an id. The provider has the job, or has it not. */
  'no id': 1,
  'no id, stored': 1,
  /** A 5xx. The provider has not the job, has it, or gets it later. */
  error: 3,
  'error, stored': 4,
  'error, stored later': 3,
  'reply lost': 4,
  /** No answer within the time limit of the call. */
  'silence, stored': 2,
  /** An id that the provider gave to an earlier job. */
  'id of another job': 1,
  'id of another job, stored': 2,
} as const

export type SubmitFault = keyof typeof submitFaults
