import { subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { HoldQueue } from '../hold-queue.ts'
import type { Clock } from '../ports/clock.ts'
import type { AttemptRecord } from '../upstreams/attempt-record.ts'
import type { AdmittedRequest } from './admit-text.ts'
import type { MeterPorts } from './meter-usage.ts'
import type { MeteredUsage, TextPrice } from './quote-text.ts'

export type SettleTextPorts = MeterPorts & {
  readonly holds: HoldQueue
  readonly clock: Clock
  /** Reports an error that no client waits for. */
  readonly onSettleFailed: (error: unknown) => void
}

/** Charges a request for what one attempt used. The charge is durable when this resolves with the amount charged. */
export async function settleText(
  admitted: AdmittedRequest,
  attempt: AttemptRecord<unknown>,
  { metered, price }: { readonly metered: MeteredUsage; readonly price: TextPrice },
  { holds, clock }: Pick<SettleTextPorts, 'holds' | 'clock'>,
): Promise<NanoUsd> {
  const { call, dialect, model, hold, quote } = admitted
  const { usage, provenance, assumedCached } = metered
  const { isClamped, isCostUnreported, tariff } = price
  const { cost } = await holds.capture(hold, {
    kind: 'text',
    cost: price.cost,
    providerCost: price.providerCost,
    route: dialect.route,
    apiKeyId: call.caller.apiKey.id,
    model: model.id,
    provider: attempt.destination.provider.id,
    usage,
    provenance,
    isClamped,
    ...(assumedCached !== undefined && { assumedCached }),
    tariff,
    atMs: clock.now(),
  })
  // The hold's own shortfall would be wrong: in the mode that only checks balances, nothing is held.
  const shortfall = cost > quote.amount ? subtractUsd(cost, quote.amount) : ZERO
  const { trace } = call
  trace.usage = usage
  trace.provenance = provenance
  trace.isClamped = isClamped
  trace.cost = cost
  trace.shortfall = shortfall
  trace.isCostUnreported = isCostUnreported
  return cost
}

/**
 * Whether a reply may name the cost: it must not follow from an estimate, nor from a cost that the upstream did not
 * report.
 */
export function isCostCertain(
  { provenance }: MeteredUsage,
  { tariff, isCostUnreported }: TextPrice,
): boolean {
  return tariff === null ? !isCostUnreported : provenance === 'reported'
}
