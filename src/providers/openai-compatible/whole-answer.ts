import type { ProviderOutcome } from '../../gateway/ports/text-provider.ts'
import { readHead } from './answer-head.ts'
import { readAnswer } from './read-answer.ts'
import { failedOutcome, type UpstreamCall } from './upstream-call.ts'

/** Reads the whole answer of a call, or says why there is none. Never rejects. */
export async function wholeAnswer(
  { response, cutoff }: UpstreamCall,
  costHeader: string | undefined,
): Promise<ProviderOutcome> {
  try {
    const answer = await response
    return await readAnswer(readHead(answer, costHeader), answer)
  } catch (error) {
    return failedOutcome(error, cutoff)
  } finally {
    cutoff.release()
  }
}

/**
 * Gives the answer of a call if it comes in time. Otherwise the call has timed out, and goes on for `lateMs` without
 * its caller.
 */
export function answerInTime(
  answer: Promise<ProviderOutcome>,
  { cutoff }: UpstreamCall,
  { readTimeoutMs, lateMs }: { readonly readTimeoutMs: number; readonly lateMs: number },
): Promise<ProviderOutcome> {
  return new Promise(resolve => {
    cutoff.startWith(readTimeoutMs, () => {
      if (!cutoff.isSent) return cutoff.cut('timed_out')
      cutoff.ignoreCaller()
      cutoff.start(lateMs)
      resolve({ outcome: 'timed_out', late: { outcome: answer, abandon: () => cutoff.cut('aborted') } })
    })
    void answer.then(resolve)
  })
}
