import { nanoUsd, type NanoUsd } from '../money.ts'
import type { TextTariff } from './tariff.ts'

const MILLION = 1_000_000
const MILLION_BIG = 1_000_000n

/**
 * What tokens cost whose number times their price per million adds up to `millionfold`, with the price per request: exact, and
 * rounded once, up to a nano-USD. Undefined where the sum is beyond the whole numbers that a double has; `exactBigPrice` takes
 * any. A sum that was added up in doubles and is not beyond them is exact in each of its steps, since rounding keeps the order.
 */
export function exactPrice(millionfold: number, { perRequest }: TextTariff): NanoUsd | undefined {
  if (millionfold > Number.MAX_SAFE_INTEGER) return undefined
  const rest = millionfold % MILLION
  const price = BigInt((millionfold - rest) / MILLION + (rest > 0 ? 1 : 0))
  return nanoUsd(perRequest === undefined ? price : price + perRequest)
}

/** The same for a sum of any size. */
export function exactBigPrice(millionfold: bigint, { perRequest }: TextTariff): NanoUsd {
  return nanoUsd((millionfold + MILLION_BIG - 1n) / MILLION_BIG + (perRequest ?? 0n))
}
