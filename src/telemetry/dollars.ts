const NANO_PER_USD = 1e9

/** The only place that converts money to a float. Metrics are for display; nothing is settled from them. */
export function dollars(amount: bigint): number {
  return Number(amount) / NANO_PER_USD
}
