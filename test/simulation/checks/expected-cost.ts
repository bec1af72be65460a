import type { Job } from '../../../src/domain/jobs/job.ts'
import type { MediaResult } from '../../../src/gateway/ports/providers/media-provider.ts'
import { readMp4Duration } from '../../support/tiny-mp4.ts'
import { priceOf, type World } from '../world.ts'

type Priced = Pick<Job, 'quote' | 'request'>

/** How far a provider's length may be from the clip's own before the clip's own counts. */
const SLACK_MS = 500

/** What a stored result costs by the rules of the contract, computed apart from the product. */
export function expectedCost(job: Priced, result: MediaResult, { files }: World): bigint {
  const [clip] = result.outputs
  const bytes = clip === undefined || job.quote.kind === 'images' ? undefined : files.bytesOf(clip)
  // A header with a length of zero states none.
  const clipMs = bytes === undefined ? undefined : Math.round(readMp4Duration(bytes)) || undefined
  const { durationMs } = result
  const isFarOff =
    clipMs !== undefined && durationMs !== undefined && Math.abs(clipMs - durationMs) > SLACK_MS
  return costOf(job, result, isFarOff ? clipMs : (durationMs ?? clipMs))
}

/** What a result costs that came after the release, and is not stored. */
export function expectedLoss(job: Priced, result: MediaResult): bigint {
  return costOf(job, result, result.durationMs)
}

function costOf(
  { quote, request }: Priced,
  { isCounted, outputs }: MediaResult,
  lengthMs: number | undefined,
): bigint {
  const price = priceOf(quote)
  if (quote.kind === 'images') {
    const count = isCounted ? Math.min(outputs.length, request.count) : request.count
    return price * BigInt(count)
  }
  const ms = Math.min(lengthMs ?? request.durationMs ?? quote.heldMs, quote.heldMs)
  return (price * BigInt(ms) + 999n) / 1000n
}
