import { subtractUsd, ZERO, type NanoUsd } from '../../domain/money.ts'
import type { AdmittedRequest } from './admit-text.ts'
import type { Charge } from '../ports/ledger.ts'
import type { MeteredUsage, TextPrice } from './quote-text.ts'

/** What goes into the books for a job that used so much. */
export function chargeOf(
  { call, dialect, model }: AdmittedRequest,
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

/**
 * A charge is durable, and only then may its cost be told: puts it into the trace, and gives what a reply may tell of it. Null
 * where there is no cost to tell: it follows from an estimate, or the upstream did not report its own.
 */
export function tellCharge(
  { call: { trace }, quote }: AdmittedRequest,
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
