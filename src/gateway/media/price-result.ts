import type { Job } from '../../domain/jobs/job.ts'
import type { NanoUsd } from '../../domain/money.ts'
import { chargeForImages, chargeForVideo } from '../../domain/pricing/charge.ts'

/** A provider's duration may differ by this much from the clip's own header before the header counts. */
const DURATION_SLACK_MS = 500

export type Priced = {
  readonly cost: NanoUsd
  readonly count?: number
  /** The clip's duration. */
  readonly durationMs?: number
  /** The part of it that is charged: no more than was held. */
  readonly chargedMs?: number
}

/**
 * What a result costs at the price that the job was created with: images by how many there are, at most those asked
 * for, and all asked for where the provider does not tell how many; a clip by its duration. Never more than was held.
 */
export function priceResult(
  { quote, request }: Pick<Job, 'quote' | 'request'>,
  result: {
    readonly outputs: readonly unknown[]
    readonly isCounted: boolean
    readonly durationMs?: number
    /** What the clip's own header says; undefined where it cannot be read. */
    readonly clipMs?: number | undefined
  },
): Priced {
  if (quote.kind === 'images') {
    const count = result.isCounted ? Math.min(result.outputs.length, request.count) : request.count
    return { cost: chargeForImages(count, quote.tariff), count }
  }
  // Where nothing tells how long the clip is, it counts as long as it was asked for.
  const durationMs = clipDuration(result) ?? request.durationMs ?? quote.heldMs
  const chargedMs = Math.min(durationMs, quote.heldMs)
  return { cost: chargeForVideo(chargedMs, quote.tariff), durationMs, chargedMs }
}

/**
 * The provider's duration; the clip's own header where the provider gives none, or one that is more than half a second
 * off.
 */
function clipDuration({
  durationMs,
  clipMs,
}: {
  readonly durationMs?: number
  readonly clipMs?: number | undefined
}) {
  if (clipMs === undefined || durationMs === undefined) return durationMs ?? clipMs
  return Math.abs(durationMs - clipMs) > DURATION_SLACK_MS ? clipMs : durationMs
}
