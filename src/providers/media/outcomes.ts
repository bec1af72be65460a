import type { PollOutcome, SubmitOutcome, Rejection } from '../../gateway/ports/providers/media-provider.ts'
import type { MediaAnswer, MediaReply } from './media-http.ts'

export type Unavailable = Extract<PollOutcome, { readonly outcome: 'unavailable' }>

/** The default message of a failure. */
export const UNEXPLAINED_FAILURE = 'The provider could not make the result and did not say why.'

/** The default message of a rejection. */
export const UNEXPLAINED_REJECTION = 'The provider refused the job and did not say why.'

/** Nothing is sent, because the operator has to change the row. */
export function notCallable(problem: string): SubmitOutcome {
  return { outcome: 'rejected', reason: 'operator', message: `The provider cannot be called: ${problem}.` }
}

/** Without an answer, the job may exist if some of the submission was sent. */
export function unanswered({
  isSent,
  problem,
}: Extract<MediaReply, { readonly reply: 'none' }>): SubmitOutcome {
  return { outcome: isSent ? 'unknown' : 'not_sent', problem }
}

/** A poll that says nothing about the job. The problem is for the operator. */
export function unavailable(problem: string): Unavailable {
  return { outcome: 'unavailable', problem }
}

/** A poll whose answer says nothing about the job. */
export function unusable(answer: MediaAnswer, code?: string | number): Unavailable {
  const { retryAfterS } = answer
  return {
    ...unavailable(statusProblem(answer, code)),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  }
}

/** For the operator. */
export function statusProblem({ status }: MediaAnswer, code?: string | number): string {
  return code === undefined ? `status ${status}` : `status ${status}, code ${code}`
}

export function isSuccess({ status }: MediaAnswer): boolean {
  return status >= 200 && status <= 299
}

/** Why a submission was refused, by its HTTP status. For answers without a more specific code. */
export function reasonOf(status: number): Exclude<Rejection['reason'], 'no_id'> {
  if (status === 401 || status === 402 || status === 403) return 'operator'
  if (status === 429) return 'rate_limited'
  // A redirect comes from a base URL that is not the provider's, and is never followed.
  return status >= 300 && status < 400 ? 'operator' : 'invalid'
}

/** The time that an answer asks to wait, as a member of an outcome. */
export function waitOf({ retryAfterS }: Pick<MediaAnswer, 'retryAfterS'>): { readonly retryAfterS?: number } {
  return retryAfterS === undefined ? {} : { retryAfterS }
}

/** Whether a value is an id that fits in one path segment. */
export function isUsableId(id: unknown): id is string {
  return typeof id === 'string' && id.isWellFormed() && !/^\.{0,2}$/.test(id)
}

/**
 * Texts about the credit, the balance or the payments of the operator's account, for providers without a code for this.
 */
const OPERATOR_TEXT = new RegExp(
  [
    String.raw`\b(?:not|no|out of|insufficient|less than|low on)\b.{0,40}\bcredits?\b`,
    String.raw`\b(?:exhausted|insufficient)\b.{0,20}\bbalance\b`,
    String.raw`\b(?:user|account) is locked\b`,
    String.raw`\b(?:billing|payment method|spending limit)\b`,
  ].join('|'),
  'i',
)

/** Whether a provider's text is about the operator's account. Such a text is never shown to customers. */
export function isOperatorText(text: string): boolean {
  return OPERATOR_TEXT.test(text)
}

export type FailedJob = Extract<PollOutcome, { readonly outcome: 'failed' }>

/** A job that failed. A failure about the operator's account has neither its text nor its code. */
export function failedJob(message: string, code?: string): FailedJob {
  if (isOperatorText(message)) return { outcome: 'failed', message: UNEXPLAINED_FAILURE }
  return { outcome: 'failed', message, ...(code === undefined ? {} : { code }) }
}
