import type { Provider } from '../../domain/catalog/provider.ts'
import { nanoUsd, parseUsd, type NanoUsd } from '../../domain/money.ts'
import { RECORDED_COST_MAX } from '../../domain/pricing/exact-usd.ts'
import { divideRoundingUp } from '../../domain/pricing/round-up.ts'

const BILLION = 1_000_000_000n
/** No job costs more credits. A larger number is not one. */
const CREDITS_MAX = 1_000_000_000

/**
 * The cost of a job that its provider states in its own unit, as a member of an outcome. Empty for anything but a
 * number of at least zero, for a cost that no job can have, and for a row that does not say what a unit costs.
 */
export function costOfCredits(
  credits: unknown,
  { creditUsd }: Pick<Provider, 'creditUsd'>,
): { readonly providerCost?: NanoUsd } {
  const billionths = billionthsOf(credits)
  if (creditUsd === undefined || billionths === undefined) return {}
  const providerCost = divideRoundingUp(billionths * creditUsd, BILLION)
  // The store could not write it, and a job that is done could not end.
  return providerCost > RECORDED_COST_MAX ? {} : { providerCost }
}

/** A number of credits, or its digits in a string, in billionths. */
function billionthsOf(credits: unknown): bigint | undefined {
  const isNumber = typeof credits === 'number' && Number.isFinite(credits)
  const text = isNumber && credits <= CREDITS_MAX ? credits.toFixed(9) : credits
  const billionths = typeof text === 'string' && text.length <= 30 ? parseUsd(text) : undefined
  return billionths === undefined || billionths < 0n ? undefined : nanoUsd(billionths)
}
