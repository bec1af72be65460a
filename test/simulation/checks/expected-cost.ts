import type { Job } from '../../../src/domain/jobs/job.ts'
import type { MediaResult } from '../../../src/gateway/ports/media-provider.ts'
import { priceOf } from '../world.ts'

/** What a result costs by the rules of the contract, computed apart from the product. */
export function expectedCost(
  { quote, request }: Pick<Job, 'quote' | 'request'>,
  result: MediaResult,
): bigint {
  const price = priceOf(quote)
  if (quote.kind === 'images') {
    const count = result.isCounted ? Math.min(result.outputs.length, request.count) : request.count
    return price * BigInt(count)
  }
  const ms = Math.min(result.durationMs ?? quote.heldMs, quote.heldMs)
  return (price * BigInt(ms) + 999n) / 1000n
}
