import type { ProviderOutcome } from '../../gateway/ports/text-provider.ts'
import type { HttpResponse } from '../../http1/client/http-client.ts'
import { failureReason } from '../failure-reason.ts'
import type { Cutoff } from './cutoff.ts'

/** A running request, and the cutoff that can end it early. */
export type UpstreamCall = { readonly response: Promise<HttpResponse>; readonly cutoff: Cutoff }

/** A call without an answer. */
export type FailedOutcome = Exclude<ProviderOutcome, { readonly outcome: 'answered' }>

/**
 * The outcome of a call that was cut off, or that failed with this error. If the time is over before the request was
 * sent, the call did not time out but failed to connect. No upstream works on it, so another one may be called.
 */
export function failedOutcome(error: unknown, { cause, isSent }: Cutoff): FailedOutcome {
  if (cause === 'timed_out' && !isSent) return { outcome: 'unreachable', reason: 'CONNECT_TIMEOUT' }
  return cause === undefined ? { outcome: 'unreachable', reason: failureReason(error) } : { outcome: cause }
}
