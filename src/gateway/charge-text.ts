import { subtractUsd, ZERO, type NanoUsd } from '../domain/money.ts'
import type { TextJob } from './admit-text.ts'
import type { HoldQueue } from './hold-queue.ts'
import type { Clock } from './ports/clock.ts'
import type { Charge } from './ports/ledger.ts'
import { priceText, type MeteredUsage, type TextPrice } from './quote-text.ts'

/**
 * Charges a job for what it used and frees the rest of its hold. When this resolves the charge is durable, and only then may
 * its cost be told. Null where there is no cost to tell: it follows from an estimate, or the upstream did not report its own.
 */
export async function chargeText(
  job: TextJob,
  used: MeteredUsage & { readonly reportedCost: NanoUsd | null },
  { holds, clock }: { readonly holds: HoldQueue; readonly clock: Clock },
): Promise<{ readonly charged: NanoUsd; readonly told: NanoUsd | null }> {
  const price = priceText(job.quote, used, used.reportedCost)
  const { cost } = await holds.capture(job.hold, chargeOf(job, used, price, clock.now()))
  return { charged: cost, told: tellCharge(job, used, price, cost) }
}

/** What goes into the books for a job that used so much. */
export function chargeOf(
  { call, dialect, model }: TextJob,
  { usage, provenance }: MeteredUsage,
  { cost, isClamped, tariff }: TextPrice,
  atMs: number,
): Charge {
  const { trace, caller } = call
  return {
    cost,
    route: dialect.route,
    apiKeyId: caller.apiKey.id,
    model: model.id,
    provider: trace.provider ?? '',
    usage,
    provenance,
    isClamped,
    tariff,
    atMs,
  }
}

/** A charge is durable: puts it into the trace, and gives what may be told of it. */
export function tellCharge(
  { call: { trace }, quote }: TextJob,
  { usage, provenance }: MeteredUsage,
  price: TextPrice,
  cost: NanoUsd,
): NanoUsd | null {
  trace.usage = usage
  trace.provenance = provenance
  trace.isClamped = price.isClamped
  trace.cost = cost
  // Not the hold's own shortfall: where balances are only checked, nothing is held.
  trace.shortfall = cost > quote.amount ? subtractUsd(cost, quote.amount) : ZERO
  trace.isCostUnreported = price.isCostUnreported
  // Without a tariff the cost does not depend on who counted the tokens.
  const isCertain = price.tariff === null ? !price.isCostUnreported : provenance === 'reported'
  return isCertain ? cost : null
}
