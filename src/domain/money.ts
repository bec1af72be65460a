declare const unit: unique symbol

/** US dollars in billionths. A bigint, so that no sum is ever rounded. */
export type NanoUsd = bigint & { readonly [unit]: 'NanoUsd' }

const NANO_DIGITS = 9
const NANO_PER_USD = 1_000_000_000n
const NANO_PER_DOLLAR = 1_000_000_000
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER)
/** As many as can stand between the point and the first other digit. */
const ZEROS = Array.from({ length: NANO_DIGITS }, (_, count) => '0'.repeat(count))
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

/** As `parseUsd`, for text that is known to be money; throws a RangeError on any other. */
export function usd(text: string): NanoUsd {
  const amount = parseUsd(text)
  if (amount === undefined) throw new RangeError(`"${text}" is not an amount in dollars such as "0.25".`)
  return amount
}

/** The canonical decimal string in dollars: no trailing zeros, no trailing point, `"0"` for zero. */
export function formatUsd(amount: NanoUsd): string {
  if (amount >= 0n && amount <= EXACT_MAX) return formatExact(Number(amount))
  const billionths: bigint = amount
  const negative = billionths < 0n
  const digits = (negative ? -billionths : billionths).toString().padStart(NANO_DIGITS + 1, '0')
  const whole = digits.slice(0, -NANO_DIGITS)
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** The same for what a double holds exactly, nine million dollars and less: every reply pays for this, three times. */
function formatExact(billionths: number): string {
  const whole = Math.floor(billionths / NANO_PER_DOLLAR)
  let fraction = billionths - whole * NANO_PER_DOLLAR
  if (fraction === 0) return String(whole)
  let digits = NANO_DIGITS
  for (; fraction % 10 === 0; fraction /= 10) digits -= 1
  let zeros = 0
  for (let least = 10 ** (digits - 1); fraction < least; least /= 10) zeros += 1
  return `${whole}.${ZEROS[zeros]}${fraction}`
}

export function addUsd(left: NanoUsd, right: NanoUsd): NanoUsd {
  return nanoUsd(left + right)
}

export function subtractUsd(left: NanoUsd, right: NanoUsd): NanoUsd {
  return nanoUsd(left - right)
}
