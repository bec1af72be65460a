import type { PollOutcome } from '../../gateway/ports/media-provider.ts'
import { UNEXPLAINED_FAILURE } from './outcomes.ts'

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
