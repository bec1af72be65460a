const NANO_PER_USD = 1e9

/** Amounts become floats here and nowhere else: a metric is looked at, never settled from. */
export function dollars(amount: bigint): number {
  return Number(amount) / NANO_PER_USD
}
