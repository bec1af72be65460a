declare const unit: unique symbol

/** US dollars in billionths. A bigint, so that sums are exact. */
export type NanoUsd = bigint & { readonly [unit]: 'NanoUsd' }

const NANO_DIGITS = 9
const NANO_PER_USD = 1_000_000_000n
const DECIMAL = /^(-?)(\d{1,18})(?:\.(\d{1,9}))?$/

export const ZERO = nanoUsd(0n)

/** Marks an integer number of billionths of a dollar as money. */
export function nanoUsd(billionths: bigint): NanoUsd {
  return billionths as NanoUsd
}

/**
 * Reads a decimal string in dollars, exact to nine decimals: `"0.00375"` is 3,750,000 billionths.
 * Undefined for anything else: an exponent, a sign other than a leading minus, more than nine decimals, spaces.
 */
export function parseUsd(text: string): NanoUsd | undefined {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '0', fraction = ''] = match
  const magnitude = BigInt(whole) * NANO_PER_USD + BigInt(fraction.padEnd(NANO_DIGITS, '0'))
  return nanoUsd(sign === '-' ? -magnitude : magnitude)
}

/** Like `parseUsd`, but throws a RangeError where `parseUsd` returns undefined. */
export function usd(text: string): NanoUsd {
  const amount = parseUsd(text)
  if (amount === undefined) throw new RangeError(`"${text}" is not an amount in dollars such as "0.25".`)
  return amount
}

/** The canonical decimal string in dollars: no trailing zeros, no trailing point, `"0"` for zero. */
export function formatUsd(amount: NanoUsd): string {
  if (amount < 0n) return `-${formatUsd(nanoUsd(0n - amount))}`
  const digits = amount.toString().padStart(NANO_DIGITS + 1, '0')
  const point = digits.length - NANO_DIGITS
  let end = digits.length
  while (end > point && digits[end - 1] === '0') end -= 1
  const whole = digits.slice(0, point)
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`
}

/** For people: `"6.00 USD"`, with at least two decimals. */
export function describeUsd(amount: NanoUsd): string {
  const [whole, fraction = ''] = formatUsd(amount).split('.')
  return `${whole}.${fraction.padEnd(2, '0')} USD`
}

export function addUsd(left: NanoUsd, right: NanoUsd): NanoUsd {
  return nanoUsd(left + right)
}

export function subtractUsd(left: NanoUsd, right: NanoUsd): NanoUsd {
  return nanoUsd(left - right)
}

/**
 * Divides a sum of money in a finer unit into nano-USD and rounds a fraction up: the account pays for it, never the
 * operator. `dividend` is not negative.
 */
export function divideRoundingUp(dividend: bigint, divisor: bigint): NanoUsd {
  return nanoUsd((dividend + divisor - 1n) / divisor)
}
