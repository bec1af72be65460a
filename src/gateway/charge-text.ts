import { subtractUsd, ZERO, type NanoUsd } from '../domain/money.ts'
import type { TextJob } from './admit-text.ts'
import type { HoldQueue } from './hold-queue.ts'
import type { Clock } from './ports/clock.ts'
import { priceText, type MeteredUsage } from './quote-text.ts'

/**
 * Charges a job for what it used and frees the rest of its hold. When this resolves the charge is durable, and only then may
 * its cost be told. Null where there is no cost to tell: it follows from an estimate, or the upstream did not report its own.
 */
export async function chargeText(
  { call, dialect, model, quote, hold }: TextJob,
  used: MeteredUsage & { readonly reportedCost: NanoUsd | null },
  { holds, clock }: { readonly holds: HoldQueue; readonly clock: Clock },
): Promise<{ readonly charged: NanoUsd; readonly told: NanoUsd | null }> {
  const { trace, caller } = call
  const { usage, provenance } = used
  const price = priceText(quote, used, used.reportedCost)
  const { cost } = await holds.capture(hold, {
    cost: price.cost,
    route: dialect.route,
    apiKeyId: caller.apiKey.id,
    model: model.id,
    provider: trace.provider ?? '',
    usage,
    provenance,
    isClamped: price.isClamped,
    tariff: price.tariff,
    atMs: clock.now(),
  })
  trace.usage = usage
  trace.provenance = provenance
  trace.isClamped = price.isClamped
  trace.cost = cost
  // Not the hold's own shortfall: where balances are only checked, nothing is held.
  trace.shortfall = cost > quote.amount ? subtractUsd(cost, quote.amount) : ZERO
  trace.isCostUnreported = price.isCostUnreported
  // Without a tariff the cost does not depend on who counted the tokens.
  const isCertain = price.tariff === null ? !price.isCostUnreported : provenance === 'reported'
  return { charged: cost, told: isCertain ? cost : null }
}
