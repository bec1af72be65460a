/** An exact decimal number: `digits` divided by ten to the power of `places`. Bills have more places than our money. */
export type Decimal = { readonly digits: bigint; readonly places: number }

export const ZERO_DECIMAL: Decimal = { digits: 0n, places: 0 }

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/
/** More than any amount on a bill has, and few enough to compute with. */
const CHARS_MAX = 64

/**
 * Reads a decimal or JSON number with or without an exponent, exactly. Undefined for any other text. Programs that
 * compute costs with floats write amounts such as `1.5e-05` and `0.13080438340307526`.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const match = text.length > CHARS_MAX ? null : NUMBER.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const magnitude = BigInt(whole + fraction)
  return shifted(
    { digits: sign === '-' ? -magnitude : magnitude, places: fraction.length },
    -Number(exponent),
  )
}

/** The number divided by ten to the power of `places`. */
export function shifted(number: Decimal, places: number): Decimal {
  const moved = number.places + places
  if (moved >= 0) return { digits: number.digits, places: moved }
  return { digits: number.digits * 10n ** BigInt(-moved), places: 0 }
}

export function addDecimals(left: Decimal, right: Decimal): Decimal {
  const places = Math.max(left.places, right.places)
  return { digits: digitsAt(left, places) + digitsAt(right, places), places }
}

export function subtractDecimals(left: Decimal, right: Decimal): Decimal {
  return addDecimals(left, { ...right, digits: 0n - right.digits })
}

/** Positive if the left number is farther from zero, negative if the right one is. */
export function compareMagnitudes(left: Decimal, right: Decimal): number {
  const places = Math.max(left.places, right.places)
  const [one, other] = [magnitudeAt(left, places), magnitudeAt(right, places)]
  return one === other ? 0 : one > other ? 1 : -1
}

/** The canonical decimal string, like `formatUsd`: no trailing zeros, no trailing point, `"0"` for zero. */
export function formatDecimal({ digits, places }: Decimal): string {
  if (digits < 0n) return `-${formatDecimal({ digits: 0n - digits, places })}`
  const text = digits.toString().padStart(places + 1, '0')
  const point = text.length - places
  const fraction = text.slice(point).replace(/0+$/, '')
  return fraction === '' ? text.slice(0, point) : `${text.slice(0, point)}.${fraction}`
}

function digitsAt(number: Decimal, places: number): bigint {
  return number.digits * 10n ** BigInt(places - number.places)
}

function magnitudeAt(number: Decimal, places: number): bigint {
  const digits = digitsAt(number, places)
  return digits < 0n ? 0n - digits : digits
}
