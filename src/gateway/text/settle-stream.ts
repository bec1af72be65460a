import { GatewayError } from '../../domain/errors.ts'
import type { StreamCharge, StreamReading } from '../../protocol/text-dialect.ts'
import type { AdmittedRequest } from './admit-text.ts'
import { chargeOf, tellCharge } from './settle-text.ts'
import type { HoldQueue } from '../hold-queue.ts'
import { meterUsage, reportedCostOf } from './meter-usage.ts'
import type { Clock } from '../ports/clock.ts'
import type { StreamEnd } from '../ports/text-provider.ts'
import type { Tokenizer } from '../ports/tokenizer.ts'
import { priceText } from './quote-text.ts'

export type SettlePorts = { readonly holds: HoldQueue; readonly tokenizer: Tokenizer; readonly clock: Clock }

/**
 * Charges a stream that is over, whichever way, for what was produced: the upstream's own numbers where a frame told them, else
 * an estimate. Null where nothing is owed, because it broke before any output; then the hold is free again.
 */
export async function settleStream(
  job: AdmittedRequest,
  reading: StreamReading,
  reportedCost: string | null,
  ports: SettlePorts,
): Promise<StreamCharge | null> {
  if (!isOwed(reading)) {
    await ports.holds.release(job.hold)
    return null
  }
  const metered = await meterUsage(reading, job, ports.tokenizer)
  const price = priceText(job.quote, metered, reportedCostOf(reading, reportedCost))
  const { cost } = await ports.holds.capture(job.hold, chargeOf(job, metered, price, ports.clock.now()))
  tellCharge(job, metered, price, cost)
  // A row that takes the upstream's cost has no tariff, and its streams carry no cost.
  const isPriced = job.quote.pricing.kind !== 'upstream_cost'
  return { cost: isPriced ? cost : null, usage: metered.usage }
}

/** A whole answer, or part of one, also where only the upstream's usage tells of it. Input alone is not: nothing came of it. */
function isOwed({ endedWell, outputBegan, usage }: StreamReading): boolean {
  return (
    endedWell || outputBegan || (usage !== null && usage.output + usage.reasoning + usage.audioOutput > 0)
  )
}

/** What a client is told of a stream that did not end well. Money may have moved, so it is not to repeat by itself. */
export function streamFailure(end: StreamEnd | null): GatewayError {
  if (end?.end === 'idle') {
    return new GatewayError('upstream_timeout', 'The model stopped sending, and the stream was ended.')
  }
  return new GatewayError('upstream_error', 'The stream broke off before the answer was whole.')
}
