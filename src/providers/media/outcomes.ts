import type { PollOutcome, SubmitOutcome } from '../../gateway/ports/media-provider.ts'
import type { WholeAnswer, WholeReply } from './send-whole.ts'

export type Unavailable = Extract<PollOutcome, { readonly outcome: 'unavailable' }>

/** The default message of a failure. */
export const UNEXPLAINED_FAILURE = 'The provider could not make the result and did not say why.'

/** The default message of a rejection. */
export const UNEXPLAINED_REJECTION = 'The provider refused the job and did not say why.'

/** Nothing is sent, because the operator has to change the row. */
export function notCallable(problem: string): SubmitOutcome {
  return { outcome: 'rejected', reason: 'operator', message: `The provider cannot be called: ${problem}.` }
}

/** Without an answer, the job may exist if some of the submit was sent. */
export function unanswered({
  isSent,
  problem,
}: Extract<WholeReply, { readonly reply: 'none' }>): SubmitOutcome {
  return { outcome: isSent ? 'unknown' : 'not_sent', problem }
}

/** A poll that says nothing about the job. The problem is for the operator. */
export function unavailable(problem: string): Unavailable {
  return { outcome: 'unavailable', problem }
}

/** A poll whose answer says nothing about the job. */
export function unusable(answer: WholeAnswer, code?: string | number): Unavailable {
  const { retryAfterS } = answer
  return { ...unavailable(problemOf(answer, code)), ...(retryAfterS === undefined ? {} : { retryAfterS }) }
}

/** For the operator. */
export function problemOf({ status }: WholeAnswer, code?: string | number): string {
  return code === undefined ? `status ${status}` : `status ${status}, code ${code}`
}

export function isSuccess({ status }: WholeAnswer): boolean {
  return status >= 200 && status <= 299
}
